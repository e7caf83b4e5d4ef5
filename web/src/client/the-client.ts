import { thePage } from "../the-page.ts";

export const { client } = thePage;
