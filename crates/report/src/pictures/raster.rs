//! From SVG to PNG.

use super::Picture;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// Pixels of a PNG for each of the SVG: sharp where it is shown at half its size.
const DENSITY: f32 = 2.0;

/// Fonts that a PNG's text is drawn with.
#[derive(Debug, Clone)]
pub struct Fonts(Arc<Database>);

impl Fonts {
    /// A database that the caller has filled, with some font standing in for those that it lacks; None if it holds none at all.
    #[must_use]
    pub fn new(mut database: Database) -> Option<Self> {
        let wanted = Query { families: &[Family::Name("DejaVu Sans"), Family::SansSerif], ..Query::default() };
        let face = database.query(&wanted).and_then(|id| database.face(id));
        let family =
            face.or_else(|| database.faces().find(|face| !face.monospaced)).or_else(|| database.faces().next());
        let name = family?.families.first()?.0.clone();
        database.set_sans_serif_family(name.clone());
        // What the renderer falls back to last.
        database.set_serif_family(name);
        Some(Self(Arc::new(database)))
    }
}

/// The picture as PNG.
///
/// # Errors
/// A clause about a picture that cannot be drawn.
pub fn png(picture: &Picture, fonts: &Fonts) -> Result<Vec<u8>, String> {
    let unfit = |reason: &dyn std::fmt::Display| format!("the picture {} cannot be made a PNG: {reason}", picture.name);
    let options = Options { fontdb: Arc::clone(&fonts.0), ..Options::default() };
    let tree = Tree::from_str(&picture.svg, &options).map_err(|error| unfit(&error))?;
    let size = tree.size().to_int_size().scale_by(DENSITY).ok_or_else(|| unfit(&"it has no size"))?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(|| unfit(&"it is too large"))?;
    resvg::render(&tree, Transform::from_scale(DENSITY, DENSITY), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| unfit(&error))
}
