import type { Story } from "../story.ts";
import { api } from "./api.ts";
import { examples } from "./examples.ts";
import { installed } from "./installed.ts";
import { operators } from "./operators.ts";
import { project } from "./project.ts";
import { readme } from "./readme.ts";
import { tracing } from "./tracing.ts";

export const stories: readonly Story[] = [readme, api, installed, operators, tracing, ...examples, project];
