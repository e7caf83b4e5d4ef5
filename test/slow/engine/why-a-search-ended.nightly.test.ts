import { testWhySearchesEnd } from "./why-a-search-ended.ts";

testWhySearchesEnd(1);
