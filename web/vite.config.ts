import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Puts script and style into the page, and into its policy the hashes of exactly those two. Nothing else may run or be fetched. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      let script = "";
      let style = "";
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          script += part.code;
          // Packages for tests are in the folder above, but not where only the page is built.
          const packaged = Object.keys(part.modules).filter((id) => id.includes("/node_modules/"));
          const foreign = packaged.find((id) => !id.includes(`${process.cwd()}/node_modules/`));
          if (foreign) throw new Error(`${foreign} is not of the packages in web/package.json`);
        } else if (name.endsWith(".css")) style += String(part.source);
        else continue;
        delete bundle[name];
      }
      const page = bundle["index.html"];
      if (page?.type !== "asset" || !script || !style)
        throw new Error("the bundle is not of the form that is expected");
      // A script must not end its own element, nor open a comment.
      script = script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").trim();
      const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
      // Functions as replacements: a `$` of the bundle means nothing there.
      page.source = String(page.source)
        .replace(/<link rel="stylesheet"[^>]*>\s*/g, "")
        .replace(/<script type="module"[^>]*><\/script>\s*/g, "")
        .replace(
          /<meta charset="utf-8" \/>/,
          (meta) => `${meta}\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
        )
        .replace("</head>", () => `<style>${style}</style>\n  </head>`)
        .replace("</body>", () => `<script type="module">${script}</script>\n  </body>`);
    },
  };
}

/** What Plot imports for maps and for colour scales, of which the page has neither: a tenth of the page. */
const UNUSED = ["d3-geo", "d3-scale-chromatic"];

function without(): Plugin {
  const empty = "\0without-";
  return {
    name: "without",
    enforce: "pre",
    resolveId: (id) => (UNUSED.includes(id) ? empty + id : null),
    async load(id) {
      if (!id.startsWith(empty)) return null;
      const names = Object.keys((await import(id.slice(empty.length))) as object);
      return names.map((name) => `export const ${name} = () => ({});`).join("\n");
    },
  };
}

export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    target: "es2022",
  },
  plugins: [without(), oneFile()],
});
