import { quickestSettings } from "../support/quickest-settings.ts";

/** Two slots, because the smallest supported machine has two processor cores. */
export const slots = 2;

export const serviceSettings = {
  ...quickestSettings,
  // Without the cache, every request starts a search.
  KIBITZ_CACHE_MB: "0",
  KIBITZ_KEYS_PER_DAY: "1000000",
  KIBITZ_SLOTS: String(slots),
} as const;
