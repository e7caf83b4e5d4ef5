import { defineConfig } from "vitest/config";
import { triedAgainInCi } from "./test/support/tried-again.ts";

/** Tests with the tools of gRPC's users: `npm run test:tools` installs them first, with Go's toolchain. */
export default defineConfig({
  test: {
    ...triedAgainInCi(),
    include: ["test/tools/**/*.test.ts"],
    globalSetup: ["test/tools/go-tools.ts", "test/support/require-components.ts"],
    provide: { needs: ["grpcurl", "ghz", "otelcol", "go", "python"] },
    // What hangs fails; what waits for a busy machine does not.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
