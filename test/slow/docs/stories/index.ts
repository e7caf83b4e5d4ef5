import type { Story } from "../story.ts";
import { api } from "./api.ts";
import { readme } from "./readme.ts";

export const stories: readonly Story[] = [readme, api];
