import { beforeAll, describe } from "vitest";
import { rowsWith } from "../../support/needs.ts";
import { useApp } from "../../support/running-app.ts";
import type { GeneratedClient } from "../language.ts";
import { runProgram } from "../run-program.ts";
import { quickTargets, quickVersion } from "./clients.ts";
import { buildClients, clientFrom, type TargetName, targetNames, versions } from "./openapi-generator.ts";
import { testReadings } from "./readings.ts";

/** The older version has a bug in its default library for Java: `null` instead of an object is an error. */
const unreadable: readonly TargetName[] = ["java"];

/** The clients of openapi-generator that `generated.nightly.test.ts` leaves out: an older version, and other languages. */
const app = useApp();

describe.each(versions)("openapi-generator %s", (version) => {
  const names = targetNames.filter((name) =>
    version === quickVersion ? !quickTargets.includes(name) : !unreadable.includes(name),
  );
  const rows = names.flatMap((name) => {
    const client = clientFrom(version, name);
    return rowsWith(client.needs, { ...client, target: name });
  });
  beforeAll(() =>
    buildClients(
      version,
      rows.map(({ target }) => target),
    ),
  );

  describe.each(rows)("a client from $name", ({ command, cwd, env }: GeneratedClient) => {
    testReadings(app, (...addresses) => runProgram([...command, ...addresses], { cwd, ...(env && { env }) }));
  });
});
