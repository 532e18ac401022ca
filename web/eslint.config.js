import tseslint from "typescript-eslint";

// What is shown may come from anybody: it reaches the page as text nodes and attributes, never as markup.
const markup = [
  "innerHTML",
  "outerHTML",
  "insertAdjacentHTML",
  "setHTMLUnsafe",
  "createContextualFragment",
  "write",
  "writeln",
];

export default tseslint.config({ ignores: ["dist", "node_modules", "test-results"] }, ...tseslint.configs.recommended, {
  files: ["src/**/*.ts"],
  rules: {
    eqeqeq: ["error", "always", { null: "ignore" }],
    "no-eval": "error",
    "no-implied-eval": "error",
    "no-restricted-properties": ["error", ...markup.map((property) => ({ property, message: "text nodes only" }))],
    "no-restricted-globals": ["error", "fetch", "XMLHttpRequest", "WebSocket", "localStorage"],
  },
});
