import type { TestProject } from "vitest/node";
import { buildGeneratedClients } from "./clients.ts";

export default async function buildClients(project: TestProject): Promise<void> {
  await buildGeneratedClients(project.getProvidedContext().missing);
}
