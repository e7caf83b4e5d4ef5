import { thePage } from "../the-page.ts";

export const { request } = thePage;
