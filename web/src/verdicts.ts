/** What the words of verdicts mean, one sentence each. */
const MEANINGS: Record<string, string> = {
  verified: "Every check agrees that the claimed switches happened.",
  unobservable: "A counter that a check needs cannot be read here.",
  unsupported: "This mechanism cannot run here.",
  unmeasured: "The run ended before this row was measured.",
  broken: "The probe crashed, timed out or gave no usable answer.",
  contradicted: "The evidence refutes the claim: do not use this figure.",
  slower: "It costs more, beyond interval and noise floor.",
  faster: "It costs less, beyond interval and noise floor.",
  same: "If there is a difference, it is smaller than this.",
  inconclusive: "This run cannot show whether they differ.",
  bimodal: "Process runs form two or more groups: each has its own figure.",
};

const WORD = new RegExp(`(?:^|\\s)(${Object.keys(MEANINGS).join("|")})(?=$|:| within)`);

/** For a text that is a verdict, or begins or ends with one. */
export const meaning = (text: string): string | undefined => MEANINGS[WORD.exec(text)?.[1] ?? ""];
