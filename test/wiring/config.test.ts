import { describe, expect, test } from "vitest";
import { ConfigError, describeSettings, loadConfig, settingsForLog } from "../../src/wiring/config.ts";
import { settings } from "../../src/wiring/settings.ts";

describe("settings", () => {
  test("settings have defaults that work", () => {
    expect(loadConfig({})).toMatchObject({
      host: "127.0.0.1",
      port: 8080,
      hashMb: 4,
      threads: 1,
      defaultEngine: undefined,
      nativeEngines: undefined,
      logLevel: "info",
    });
    expect(loadConfig({}).slots).toBeGreaterThanOrEqual(1);
  });

  test("settings cannot be changed after they are read", () => {
    expect(Object.isFrozen(loadConfig({}))).toBe(true);
  });

  test.each([
    ["KIBITZ_PORT", "65536"],
    ["KIBITZ_PORT", "-1"],
    ["KIBITZ_PORT", "80a"],
    ["KIBITZ_SLOTS", "0"],
    ["KIBITZ_HASH_MB", "16.5"],
    ["KIBITZ_LOG_LEVEL", "loud"],
    ["KIBITZ_ACCESS", "closed"],
    ["KIBITZ_SELF_SERVICE_KEYS", "yes"],
    ["KIBITZ_KEYS_PER_DAY", "0"],
    ["KIBITZ_REDIS_URL", "localhost:6379"],
    ["KIBITZ_REDIS_URL", "http://localhost"],
    ["KIBITZ_REDIS_URL", "redis://"],
    ["KIBITZ_REDIS_URL", "redis://localhost/keys"],
    ["KIBITZ_REDIS_URL", "redis://localhost/0?db=1"],
    ["KIBITZ_REDIS_URL", "redis://:100%@localhost"],
    ["KIBITZ_REDIS_PREFIX", "my kibitz"],
    ["KIBITZ_TRUST_PROXY", "10.0.0.0/33"],
    ["KIBITZ_TRUST_PROXY", "proxy.example.com"],
    ["KIBITZ_TRUST_PROXY", "10.0.0.1/8/8"],
    ["KIBITZ_CONNECTIONS_PER_ADDRESS", "-1"],
    ["KIBITZ_CONNECTIONS_PER_ADDRESS", "10001"],
    ["KIBITZ_ALLOWED_HOSTS", ","],
    ["KIBITZ_NATIVE_ENGINES", ":"],
    ["KIBITZ_ALLOWED_HOSTS", "kibitz.example:8080"],
    ["KIBITZ_ALLOWED_HOSTS", "https://kibitz.example"],
    ["KIBITZ_ALLOWED_HOSTS", "a.example b.example"],
    ["KIBITZ_CORS_ORIGINS", ","],
    ["KIBITZ_CORS_ORIGINS", "app.example.com"],
    ["KIBITZ_CORS_ORIGINS", "*,https://app.example.com"],
    ["KIBITZ_CORS_ORIGINS", "https://app.example.com/"],
    ["KIBITZ_CORS_ORIGINS", "https://App.example.com"],
    ["KIBITZ_CORS_ORIGINS", "https://app.example.com:443"],
    ["KIBITZ_CORS_ORIGINS", "https://a.example https://b.example"],
  ])("the setting %s=%j is refused, and the error names the setting", (key, value) => {
    expect(() => loadConfig({ [key]: value })).toThrow(ConfigError);
    expect(() => loadConfig({ [key]: value })).toThrow(key);
  });

  test.each([
    ["KIBITZ_PORT", "abc", 'KIBITZ_PORT is "abc", but must be an integer from 0 to 65535'],
    ["KIBITZ_LOG_LEVEL", "loud", /^KIBITZ_LOG_LEVEL is "loud", but must be one of fatal, .*, silent$/],
  ])("the error for %s=%j says which values are allowed", (key, value, message) => {
    expect(() => loadConfig({ [key]: value })).toThrow(message);
  });

  test.each(describeSettings())(
    "the setting $key has the same effect when it is empty and when it is unset",
    ({ key }) => {
      expect(loadConfig({ [key]: "" })).toEqual(loadConfig({}));
    },
  );

  test("all invalid settings are reported together", () => {
    const wrong = { KIBITZ_SLOTS: "none", KIBITZ_PORT: "80a", KIBITZ_PROT: "80", KIBITZ_HASH_MB: "16" };
    expect(() => loadConfig(wrong)).toThrow(
      /^unknown setting KIBITZ_PROT; .*\nKIBITZ_PORT is .*\nKIBITZ_SLOTS is [^\n]*$/,
    );
  });

  test("settings are read from the environment", () => {
    const config = loadConfig({
      KIBITZ_PORT: "0",
      KIBITZ_NATIVE_ENGINES: "/a/b:/c",
      KIBITZ_SLOTS: "7",
      PATH: "/bin",
    });
    expect(config).toMatchObject({ port: 0, nativeEngines: ["/a/b", "/c"], slots: 7, searchPath: "/bin" });
    expect(loadConfig({ KIBITZ_NATIVE_ENGINES: "none" }).nativeEngines).toEqual([]);
  });

  test("a setting with an unknown name is refused", () => {
    expect(() => loadConfig({ KIBITZ_PROT: "80", KIBITZ_ACCES: "keys", KIBITZ_COLOUR: "red" })).toThrow(
      /^unknown setting KIBITZ_PROT; did you mean KIBITZ_PORT\?\nunknown setting KIBITZ_ACCES; did you mean KIBITZ_ACCESS\?\nunknown setting KIBITZ_COLOUR; kibitz serve --help lists the settings$/,
    );
  });

  test("variables that Kubernetes injects for a Service named kibitz are ignored", () => {
    const injected = {
      KIBITZ_PORT: "tcp://10.0.0.1:8080",
      KIBITZ_PORT_8080_TCP_ADDR: "10.0.0.1",
      KIBITZ_SERVICE_HOST: "10.0.0.1",
    };
    expect(loadConfig(injected).port).toBe(8080);
  });

  test("KIBITZ_API_KEY, KIBITZ_CACHE and KIBITZ_URL are not refused, because other programs use them", () => {
    expect(loadConfig({ KIBITZ_API_KEY: "kbz_1", KIBITZ_CACHE: "/tmp", KIBITZ_URL: "http://a" })).toEqual(
      loadConfig({}),
    );
    expect(() => loadConfig({ KIBITZ_API_KEYS: "kbz_1" })).toThrow(/unknown setting KIBITZ_API_KEYS/);
  });

  const secrets = Object.entries<{ readonly key: string; readonly secret?: true }>(settings).filter(
    ([, { secret }]) => secret,
  );
  test.each(secrets)(
    "the value of the secret setting %s does not appear in the log or in errors",
    (name, { key }) => {
      const config = { ...loadConfig({}), [name]: "canary" };
      expect(settingsForLog(config)).toMatchObject({ [name]: "set" });
      expect(JSON.stringify(settingsForLog(config))).not.toContain("canary");
      expect(settingsForLog(loadConfig({}))).toMatchObject({ [name]: undefined });
      const refusing = () => loadConfig({ [key]: "http://:canary" });
      expect(refusing).toThrow(new RegExp(`^${key} is not usable, but must `));
      expect(refusing).not.toThrow("canary");
    },
  );

  test("the pepper and the Redis URL are secret settings", () => {
    expect(secrets.map(([name]) => name)).toEqual(["keyPepper", "redisUrl"]);
  });

  test("the setting for trusted proxies accepts a list", () => {
    const { trustProxy } = loadConfig({ KIBITZ_TRUST_PROXY: "10.0.0.0/8, 192.0.2.1,2001:db8::/32" });
    expect(trustProxy).toEqual(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"]);
    const { corsOrigins } = loadConfig({
      KIBITZ_CORS_ORIGINS: "https://a.example, http://localhost:5173,chrome-extension://abcdef",
    });
    expect(corsOrigins).toEqual(["https://a.example", "http://localhost:5173", "chrome-extension://abcdef"]);
    expect(loadConfig({ KIBITZ_CORS_ORIGINS: "none" }).corsOrigins).toEqual([]);
    const hosts = "Kibitz.Example, 192.0.2.7,[2001:db8::7]";
    expect(loadConfig({ KIBITZ_ALLOWED_HOSTS: hosts }).allowedHosts).toEqual([
      "kibitz.example",
      "192.0.2.7",
      "[2001:db8::7]",
    ]);
  });

  test("every setting has a description and a default", () => {
    expect(describeSettings()).toContainEqual(
      expect.objectContaining({ key: "KIBITZ_HASH_MB", default: "4" }),
    );
  });
});
