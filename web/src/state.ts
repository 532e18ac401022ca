/** What is shown (without a view the one that fits the runs): kept in the fragment of the address, so that a link leads to the same view. */

export interface State {
  view: string;
  run: string;
  families: string[];
  experiment: string;
  placement: string;
  probe: string;
  /** Part of the label. */
  text: string;
  /** Label of the rung to which factors refer. */
  against: string;
  /** Label of the row that is looked at closely. */
  row: string;
  /** Label of the row whose panel is open. */
  open: string;
  /** Contexts that memory is shown for. */
  contexts: string;
  /** Experiment by whose figures contexts are sorted, each family within itself. */
  sort: string;
  /** Which comparison. */
  table: string;
  /** "shown": what others published stands in the ladder. */
  published: string;
  page: number;
  theme: string;
}

export const START: State = {
  view: "",
  run: "",
  families: [],
  experiment: "",
  placement: "",
  probe: "",
  text: "",
  against: "",
  row: "",
  open: "",
  contexts: "",
  sort: "",
  table: "",
  published: "",
  page: 0,
  theme: "",
};

/** Reads a fragment; what is not understood is left out. */
export function parse(fragment: string): State {
  const found = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = { ...START };
  for (const name of Object.keys(START) as (keyof State)[]) {
    const value = found.get(name);
    if (value && typeof START[name] === "string") Object.assign(state, { [name]: value });
  }
  state.families = found.get("families")?.split(",").filter(Boolean) ?? [];
  const page = Number(found.get("page"));
  state.page = Number.isSafeInteger(page) && page > 0 ? page : 0;
  return state;
}

/** The fragment of a state, without what is as at the start. */
export function write(state: State): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    const text = Array.isArray(value) ? value.join(",") : String(value);
    if (text !== String(START[name as keyof State])) out.set(name, text);
  }
  return `#${out.toString()}`;
}
