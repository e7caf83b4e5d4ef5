import { thePage } from "./the-page.ts";

/** For parts that do not use `usePage` yet. */
export const { waiting: pasted, take } = thePage.pasted;
