import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { faultsOf, type Statement, statementOf } from "../../../tools/provenance.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
/** Of the empty text, by `sha256sum`. */
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

describe("the provenance of a release", () => {
  let statement: Statement;
  beforeEach(() => {
    rmSync(join(folder, "more"), { force: true });
    writeFileSync(join(folder, "kibitz.tgz"), "");
    writeFileSync(join(folder, "SHA256SUMS"), "says things of the others\n");
    statement = statementOf(folder, {});
  });

  test("states which files were made, from which commit, by what", () => {
    expect(statement).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ name: "kibitz.tgz", digest: { sha256: emptyDigest } }],
      predicateType: "https://slsa.dev/provenance/v1",
    });
    const { buildDefinition, runDetails } = statement.predicate;
    expect(buildDefinition.resolvedDependencies[0]?.digest.gitCommit).toMatch(/^[0-9a-f]{40}$/);
    expect(runDetails.builder.id).toBe("by-hand");
    expect(faultsOf(folder, statement)).toEqual([]);
  });

  test("names the workflow where there is one", () => {
    const env = {
      GITHUB_SERVER_URL: "https://git.example",
      GITHUB_REPOSITORY: "some/kibitz",
      GITHUB_WORKFLOW_REF: "some/kibitz/.github/workflows/release.yml@refs/tags/v1.0.0",
      GITHUB_RUN_ID: "17",
      RUNNER_ENVIRONMENT: "github-hosted",
    };
    const { buildDefinition, runDetails } = statementOf(folder, env).predicate;
    expect(runDetails.builder.id).toBe(
      "https://git.example/some/kibitz/.github/workflows/release.yml#github-hosted",
    );
    expect(runDetails.metadata.invocationId).toBe("17");
    expect(buildDefinition.resolvedDependencies[0]?.uri).toBe("git+https://git.example/some/kibitz");
  });

  test("is found to be false where a file was changed, added or taken away, or the commit is another", () => {
    appendFileSync(join(folder, "kibitz.tgz"), "changed");
    expect(faultsOf(folder, statement)).toEqual(["kibitz.tgz is not what was stated"]);
    writeFileSync(join(folder, "more"), "");
    rmSync(join(folder, "kibitz.tgz"));
    expect(faultsOf(folder, statement)).toEqual([
      "kibitz.tgz is stated, and not there",
      "more is there, and not stated",
    ]);
    const [sources] = statement.predicate.buildDefinition.resolvedDependencies;
    Object.assign(sources?.digest ?? {}, { gitCommit: "0".repeat(40) });
    expect(faultsOf(folder, statement).at(-1)).toContain(`made from ${"0".repeat(40)}`);
  });
});
