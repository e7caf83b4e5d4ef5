import { createPage } from "./page.ts";

/** The state of the page, for parts that do not use `usePage` yet. */
export const thePage = createPage();
