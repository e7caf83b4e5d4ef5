import { quickestSettings } from "../support/quickest-settings.ts";

/** The number of concurrent searches. The smallest supported machine has this number of cores. */
export const slots = 2;

/** The default settings of the services in these tests. */
export const serviceSettings = {
  ...quickestSettings,
  // Without the cache, every request starts a search.
  KIBITZ_CACHE_MB: "0",
  KIBITZ_KEYS_PER_DAY: "1000000",
  KIBITZ_SLOTS: String(slots),
} as const;
