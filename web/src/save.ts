/** Pictures of the page as files of their own: what is shown, in the theme that is shown, with nothing left to fetch. */

import { h } from "./dom";
import { wide } from "./rowplot";

const SVG = "http://www.w3.org/2000/svg";

/** Room around the picture, for its title and for a line below it. */
const MARGIN = 16;
const TITLE = 28;

/** A PNG has so many pixels for each of the page. */
const SHARPNESS = 2;

/** What of an element's style the picture depends on. */
const PAINT = ["fill", "stroke", "color"] as const;

/** What a file says of itself. */
export interface Made {
  title: string;
  /** How to read the marks: below the picture, and for those who cannot see it. */
  description: string;
  /** Below the picture: run, machine. */
  origin: string;
}

/** Font size of the lines below the picture, and pixels from one to the next. */
const [SMALL, LINE] = [11, 15];

/** Lines of the small font that so many pixels hold. */
function wrapped(words: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of words.split(/\s+/)) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && (wide(longer) * SMALL) / 12 <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const svgs = (picture: Element): SVGSVGElement[] => [...picture.querySelectorAll<SVGSVGElement>("svg.plot")];

function text(
  content: string,
  x: number,
  y: number,
  style: CSSStyleDeclaration,
  attributes: Record<string, string>,
): SVGTextElement {
  const element = document.createElementNS(SVG, "text");
  const all = { x: String(x), y: String(y), fill: style.color, "font-family": style.fontFamily, ...attributes };
  for (const [name, value] of Object.entries(all)) element.setAttribute(name, value);
  element.textContent = content;
  return element;
}

/** A copy that needs no style sheet. */
function standalone(picture: SVGSVGElement): SVGSVGElement {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  for (const [i, original] of [picture, ...picture.querySelectorAll<SVGElement>("*")].entries()) {
    const element = copies[i]!;
    const style = getComputedStyle(original);
    // Colours are names of the page's style sheet; elsewhere they mean nothing.
    for (const name of PAINT) {
      const named = `${element.getAttribute(name) ?? ""}${original.style.getPropertyValue(name)}`;
      if (/var\(|color-mix|currentColor/.test(named)) element.setAttribute(name, style.getPropertyValue(name));
    }
    if (original.style.fontSize) element.setAttribute("font-size", style.fontSize);
    if (original.style.fontVariant) element.setAttribute("font-variant-numeric", style.fontVariantNumeric);
    for (const name of ["style", "class", "role", "aria-label", "aria-hidden", "tabindex"])
      element.removeAttribute(name);
  }
  const style = getComputedStyle(picture);
  copy.setAttribute("font-family", style.fontFamily);
  copy.setAttribute("color", style.color);
  // White space counts in labels, as on the page.
  for (const element of copy.querySelectorAll("text")) element.setAttribute("xml:space", "preserve");
  for (const tip of copy.querySelectorAll("g[data-mark=tip], g[data-mark=crosshair]")) tip.remove();
  return copy;
}

/** The picture as the text of an SVG file; null: there is nothing drawn. */
export function svgFile(picture: Element, made: Made): { text: string; width: number; height: number } | null {
  const parts = svgs(picture);
  if (parts.length === 0) return null;
  const page = getComputedStyle(document.body);
  const paper = getComputedStyle(picture.closest("figure") ?? document.body).backgroundColor;
  const sizes = parts.map((part) => part.viewBox.baseVal);
  const width = Math.max(...sizes.map((size) => size.width)) + 2 * MARGIN;
  const legend = wrapped(made.description, width - 2 * MARGIN);
  const height = sizes.reduce((sum, size) => sum + size.height, 0) + TITLE + 2 * MARGIN + TITLE + legend.length * LINE;
  const root = document.createElementNS(SVG, "svg");
  const attributes = {
    xmlns: SVG,
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-labelledby": "title description",
  };
  for (const [name, value] of Object.entries(attributes)) root.setAttribute(name, String(value));
  const [title, description, ground] = (["title", "desc", "rect"] as const).map((tag) =>
    document.createElementNS(SVG, tag),
  );
  title!.id = "title";
  title!.textContent = made.title;
  description!.id = "description";
  description!.textContent = made.description;
  for (const [name, value] of Object.entries({ width, height, fill: paper })) ground!.setAttribute(name, String(value));
  root.append(
    title!,
    description!,
    ground!,
    text(made.title, MARGIN, MARGIN + 12, page, { "font-size": "15px", "font-weight": "600" }),
  );
  let y = MARGIN + TITLE;
  parts.forEach((part, i) => {
    const copy = standalone(part);
    copy.setAttribute("x", String(MARGIN));
    copy.setAttribute("y", String(y));
    root.append(copy);
    y += sizes[i]!.height;
  });
  [...legend, made.origin].forEach((line, i) =>
    root.append(text(line, MARGIN, y + 20 + i * LINE, page, { "font-size": `${SMALL}px`, "fill-opacity": "0.75" })),
  );
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

function download(address: string, name: string): void {
  h("a", { href: address, download: name }).click();
}

const address = (svg: string): string => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;

async function png(file: { text: string; width: number; height: number }): Promise<string> {
  const image = new Image();
  image.src = address(file.text);
  await image.decode();
  const canvas = h("canvas", {
    width: Math.round(file.width * SHARPNESS),
    height: Math.round(file.height * SHARPNESS),
  });
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

const words = (figure: HTMLElement, selector: string): string => figure.querySelector(selector)?.textContent ?? "";

function fileOf(figure: HTMLElement, origin: string): ReturnType<typeof svgFile> {
  const picture = figure.querySelector(".picture");
  // A file has no other view to look into.
  const description = words(figure, "figcaption p").replace(/ [^.]*\bsee [A-Z][^.]*\./g, "");
  const made = { title: words(figure, "h3"), description, origin };
  return picture && svgFile(picture, made);
}

/** The address of a figure's picture as a file of this kind; null: nothing is drawn in it. */
export async function saved(figure: HTMLElement, origin: string, kind: string): Promise<string | null> {
  const file = fileOf(figure, origin);
  return file && (kind === "png" ? await png(file) : address(file.text));
}

/** Puts buttons that save its picture to a figure of the page. */
export function saveable(figure: HTMLElement, origin: string): void {
  const picture = figure.querySelector(".picture");
  if (!picture || svgs(picture).length === 0) return;
  const file = () => fileOf(figure, origin)!;
  const button = (kind: string, onclick: () => void): HTMLElement =>
    h(
      "button",
      {
        type: "button",
        id: `${figure.id}-${kind.toLowerCase()}`,
        "aria-label": `Save the picture as ${kind}: ${words(figure, "h3")}`,
        onclick,
      },
      kind,
    );
  const svg = button("SVG", () => download(address(file().text), `${figure.id}.svg`));
  const pixels = button("PNG", () => void png(file()).then((content) => download(content, `${figure.id}.png`)));
  figure.querySelector("figcaption")?.append(h("p", { class: "saving" }, "Save the picture as ", svg, " ", pixels));
}
