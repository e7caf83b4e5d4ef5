import type { Language } from "../language.ts";
import { go } from "./go.ts";
import { java } from "./java.ts";
import { python } from "./python.ts";
import { typescript } from "./typescript.ts";

export const languages: readonly Language[] = [go, java, python, typescript];
