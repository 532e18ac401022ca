//! What every picture is drawn on and with.

use super::Picture;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use switchcost_catalogue::Catalogue;

/// Width of a picture: about that of a README's column.
pub(super) const WIDTH: i32 = 800;

/// Of a letter, as a share of the size of its font; of the widest font that [`FONTS`] may become.
const LETTER: f64 = 0.56;

/// DejaVu Sans and Verdana are equally wide; what else a reader's system has is narrower.
const FONTS: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// Sizes are multiplied by this to undo the backend's division.
const BACKEND_FONT: f64 = 1.24;

/// Colours of families, by their place in the ladder: those of the page in its light theme.
pub(super) const PALETTE: [RGBColor; 8] = [
    RGBColor(0x5c, 0x66, 0x70),
    RGBColor(0x0b, 0x62, 0xa8),
    RGBColor(0x1b, 0x8f, 0xc4),
    RGBColor(0x00, 0x79, 0x5e),
    RGBColor(0xa8, 0x5b, 0x00),
    RGBColor(0xc4, 0x3d, 0x1b),
    RGBColor(0xa3, 0x36, 0x7f),
    RGBColor(0x5b, 0x3f, 0xb5),
];
pub(super) const TEXT: RGBColor = RGBColor(0x1b, 0x1f, 0x24);
pub(super) const FAINT: RGBColor = RGBColor(0x5d, 0x66, 0x70);
pub(super) const RULE: RGBColor = RGBColor(0xd3, 0xd8, 0xde);
pub(super) const ALARM: RGBColor = RGBColor(0xb3, 0x00, 0x1b);
pub(super) const SLOWER: RGBColor = RGBColor(0xb4, 0x53, 0x09);
pub(super) const FASTER: RGBColor = RGBColor(0x1d, 0x5f, 0xb4);
const OTHER: RGBColor = RGBColor(0x59, 0x62, 0x70);

/// Colour of a family.
pub(super) fn colour(family: &str, catalogue: &Catalogue) -> RGBColor {
    let rank = catalogue.family_rank(family);
    if rank < catalogue.families.len() { PALETTE[rank % PALETTE.len()] } else { OTHER }
}

/// Nothing, or why the backend refuses: one that writes to memory never does.
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glyph {
    Dot,
    Hollow,
    /// One of many.
    Speck,
    Square,
    Triangle,
    Diamond,
    Cross,
    /// Upright line.
    Tick,
    /// The same with a gap.
    Split,
    /// Of an interval.
    Bar,
}

/// Size of a text, and how it stands to its point.
#[derive(Clone, Copy)]
pub(super) struct Hand {
    pub size: u32,
    pub bold: bool,
    pub colour: RGBColor,
    pub side: HPos,
}

impl Hand {
    /// To the right of its point.
    pub fn new(size: u32, colour: RGBColor) -> Self {
        Self { size, bold: false, colour, side: HPos::Left }
    }

    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// To the left of its point.
    pub fn before(self) -> Self {
        Self { side: HPos::Right, ..self }
    }

    pub fn centred(self) -> Self {
        Self { side: HPos::Center, ..self }
    }

    /// Room that a text takes at most.
    pub fn width(self, text: &str) -> i32 {
        let letter = f64::from(self.size) * if self.bold { LETTER * 1.1 } else { LETTER };
        (text.chars().count() as f64 * letter).ceil() as i32
    }

    /// As much of it as there is room for. What is no character of XML is left out: imported runs may hold it.
    fn fitted(self, text: &str, room: i32) -> String {
        let plain: String = text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')).collect();
        if self.width(&plain) <= room {
            return plain;
        }
        let letters =
            (i64::from(room.max(0)) * plain.chars().count() as i64 / i64::from(self.width(&plain).max(1))) as usize;
        let kept: String = plain.chars().take(letters.saturating_sub(1)).collect();
        format!("{}…", kept.trim_end())
    }
}

/// A sheet of white paper.
pub(super) struct Paper<'s>(DrawingArea<SVGBackend<'s>, Shift>);

/// Draws a picture of this height.
pub(super) fn picture(name: String, height: i32, draw: impl FnOnce(&Paper<'_>) -> Drawn) -> Result<Picture, String> {
    let mut svg = String::new();
    let paper = Paper(SVGBackend::with_string(&mut svg, (WIDTH as u32, height.max(1) as u32)).into_drawing_area());
    let done = paper.0.fill(&WHITE).and_then(|()| draw(&paper)).and_then(|()| paper.0.present());
    done.map_err(|error| format!("the picture {name} cannot be drawn: {error}"))?;
    drop(paper);
    Ok(Picture { name, svg })
}

impl Paper<'_> {
    /// A line of text whose middle is at this height; it keeps within `room`.
    pub fn text(&self, text: &str, at: (i32, i32), room: i32, hand: Hand) -> Drawn {
        let style = if hand.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = FontDesc::new(FontFamily::Name(FONTS), f64::from(hand.size) * BACKEND_FONT, style);
        let style = TextStyle::from(font).color(&hand.colour).pos(Pos::new(hand.side, VPos::Center));
        self.0.draw(&Text::new(hand.fitted(text, room), at, style))
    }

    pub fn line(&self, from: (i32, i32), to: (i32, i32), style: impl Into<ShapeStyle>) -> Drawn {
        self.0.draw(&PathElement::new([from, to], style))
    }

    pub fn path(&self, points: Vec<(i32, i32)>, style: impl Into<ShapeStyle>) -> Drawn {
        self.0.draw(&PathElement::new(points, style))
    }

    pub fn block(&self, corners: [(i32, i32); 2], style: impl Into<ShapeStyle>) -> Drawn {
        self.0.draw(&Rectangle::new(corners, style))
    }

    /// An interval: never too short to be seen.
    pub fn bar(&self, (from, to): (i32, i32), y: i32, colour: RGBColor) -> Drawn {
        let to = to.max(from + 1);
        self.block([(from, y - 2), (to, y + 3)], colour.mix(0.5).filled())
    }

    pub fn glyph(&self, glyph: Glyph, (x, y): (i32, i32), colour: RGBColor) -> Drawn {
        let outline = colour.stroke_width(1);
        match glyph {
            Glyph::Dot => self.0.draw(&Circle::new((x, y), 4, colour.filled())),
            Glyph::Hollow => {
                self.0.draw(&Circle::new((x, y), 4, WHITE.filled()))?;
                self.0.draw(&Circle::new((x, y), 4, outline))
            }
            Glyph::Speck => self.0.draw(&Circle::new((x, y), 2, colour.mix(0.6).filled())),
            Glyph::Square => self.block([(x - 4, y - 4), (x + 4, y + 4)], colour.filled()),
            Glyph::Triangle => {
                self.0.draw(&Polygon::new([(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)], colour.filled()))
            }
            Glyph::Diamond => {
                let corners = [(x, y - 5), (x + 4, y), (x, y + 5), (x - 4, y)];
                self.0.draw(&Polygon::new(corners, WHITE.filled()))?;
                self.path(corners.into_iter().chain([corners[0]]).collect(), outline)
            }
            Glyph::Cross => {
                self.line((x - 4, y - 4), (x + 4, y + 4), colour.stroke_width(2))?;
                self.line((x - 4, y + 4), (x + 4, y - 4), colour.stroke_width(2))
            }
            Glyph::Tick => self.line((x, y - 6), (x, y + 6), outline),
            Glyph::Split => {
                self.line((x, y - 6), (x, y - 2), outline)?;
                self.line((x, y + 2), (x, y + 6), outline)
            }
            Glyph::Bar => self.bar((x - 8, x + 8), y, colour),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_palette_is_the_page_s() {
        let sheet = include_str!("../../../../web/src/style.css");
        let light = sheet.split("@media").next().unwrap();
        let hex = |RGBColor(r, g, b): RGBColor| format!("#{r:02x}{g:02x}{b:02x}");
        for (i, colour) in PALETTE.into_iter().enumerate() {
            assert!(light.contains(&format!("--f{i}: {};", hex(colour))), "--f{i}");
        }
        for (name, colour) in [
            ("text", TEXT),
            ("faint", FAINT),
            ("line", RULE),
            ("alarm", ALARM),
            ("slower", SLOWER),
            ("faster", FASTER),
            ("other", OTHER),
        ] {
            assert!(light.contains(&format!("--{name}: {};", hex(colour))), "--{name}");
        }
    }

    #[test]
    fn texts_are_cut_to_their_room_and_are_xml() {
        let hand = Hand::new(12, TEXT);
        assert_eq!(hand.fitted("short", 100), "short");
        let cut = hand.fitted("rather a long label of something", 100);
        assert!(cut.ends_with('…') && hand.width(&cut) <= 100, "{cut}");
        let drawn =
            picture("p".into(), 20, |paper| paper.text("<a href=\"x\">&\u{0}\u{1b}é", (1, 1), 500, hand)).unwrap();
        assert!(drawn.svg.contains("&lt;a href=&quot;x&quot;&gt;&amp;é"), "{}", drawn.svg);
        assert!(drawn.svg.contains("font-size=\"12\""), "{}", drawn.svg);
    }
}
