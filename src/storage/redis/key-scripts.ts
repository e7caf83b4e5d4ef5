import { redisScript } from "./connection.ts";

/**
 * How keys lie in Redis, each name behind the one that a script is given as its first key:
 *
 *     id:<id>             hash: the record, with the network it was issued in and what its wish was called
 *     hash:<hash>         text: the id of the key with this hash
 *     all                 ids by the time they were made
 *     of:<address>, near:<network>   ids of the keys that were issued there, by that time
 *     wished:<address>    hash: ids by what their wishes were called
 *     revoked, unused     ids by the time of that; unused has all keys that were issued without the operator
 *     pepper              text: the check value of the pepper that the keys were hashed with
 *
 * Nothing of it has a lifetime: what has ended is forgotten by `prune`.
 */
const prelude = `
local keys = KEYS[1]

local function record(id)
  return redis.call('HGETALL', keys .. 'id:' .. id)
end

local function forget(id)
  local known = redis.call('HMGET', keys .. 'id:' .. id, 'hash', 'issued_to', 'network', 'wish')
  local hash, address, network, wish = known[1], known[2], known[3], known[4]
  redis.call('DEL', keys .. 'id:' .. id)
  if hash then
    redis.call('DEL', keys .. 'hash:' .. hash)
  end
  for _, name in ipairs({'all', 'revoked', 'unused'}) do
    redis.call('ZREM', keys .. name, id)
  end
  if network then
    redis.call('ZREM', keys .. 'near:' .. network, id)
  end
  if address then
    redis.call('ZREM', keys .. 'of:' .. address, id)
    if wish and redis.call('HGET', keys .. 'wished:' .. address, wish) == id then
      redis.call('HDEL', keys .. 'wished:' .. address, wish)
    end
  end
end

local function forgetEnded(revokedBefore, unusedSince, max)
  local count = 0
  for _, those in ipairs({{'revoked', revokedBefore}, {'unused', unusedSince}}) do
    if count < max then
      local ids = redis.call('ZRANGEBYSCORE', keys .. those[1], '-inf', '(' .. those[2], 'LIMIT', 0, max - count)
      for _, id in ipairs(ids) do
        forget(id)
        count = count + 1
      end
    end
  end
  return count
end
`;

/** Keys that make room for one: a few more than that, so that not each of many looks for one. */
const roomFor = 20;

/**
 * Arguments: id, hash, time made, address, last use, time revoked, then the terms: beginning and end of the window, quota,
 * network, its quota, keys that may be kept, revoked before, unused since, name of the wish (behind `=`), until when it is to be
 * carried out by the clock of Redis; then the record, field by field. What there is not is empty; without terms, so is the beginning of the window.
 */
export const createScript = redisScript(
  "create_key",
  `${prelude}
local id, hash, createdAt, address, usedAt, revokedAt = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local since, till, quota, network, networkQuota, keptMax = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local revokedBefore, unusedSince, wish, deadline = ARGV[13], ARGV[14], ARGV[15], ARGV[16]

-- Its secret is nobody's by then.
local time = redis.call('TIME')
if deadline ~= '' and time[1] * 1000 + time[2] / 1000 > tonumber(deadline) then
  return {'late'}
end

if redis.call('EXISTS', keys .. 'hash:' .. hash) == 1 then
  return {'taken'}
end

-- The time of the key that is the last one of a quota, newest first.
local function oldestOf(name, max)
  return redis.call('ZREVRANGEBYSCORE', keys .. name, '(' .. till, '(' .. since, 'WITHSCORES', 'LIMIT', max - 1, 1)[2]
end

local function isFull()
  return redis.call('ZCARD', keys .. 'unused') >= tonumber(keptMax)
end

if since ~= '' then
  local before = wish ~= '' and redis.call('HGET', keys .. 'wished:' .. address, wish)
  if before then
    local known = redis.call('HMGET', keys .. 'id:' .. before, 'created_at', 'revoked_at', 'hash')
    local at = known[1] and tonumber(known[1])
    if at and at > tonumber(since) and at < tonumber(till) and not known[2] then
      redis.call('HSET', keys .. 'id:' .. before, 'hash', hash)
      redis.call('DEL', keys .. 'hash:' .. known[3])
      redis.call('SET', keys .. 'hash:' .. hash, before)
      return {'renewed', record(before)}
    end
  end
  local oldest = oldestOf('of:' .. address, tonumber(quota))
  if oldest then
    return {'too_many', 'address', oldest}
  end
  local oldestNear = network ~= '' and oldestOf('near:' .. network, tonumber(networkQuota))
  if oldestNear then
    return {'too_many', 'network', oldestNear}
  end
  if isFull() then
    forgetEnded(revokedBefore, unusedSince, ${roomFor})
    if isFull() then
      return {'full'}
    end
  end
end

if redis.call('EXISTS', keys .. 'id:' .. id) == 1 then
  return {'taken'}
end
redis.call('HSET', keys .. 'id:' .. id, unpack(ARGV, 17))
redis.call('SET', keys .. 'hash:' .. hash, id)
redis.call('ZADD', keys .. 'all', createdAt, id)
if revokedAt ~= '' then
  redis.call('ZADD', keys .. 'revoked', revokedAt, id)
end
if network ~= '' then
  redis.call('ZADD', keys .. 'near:' .. network, createdAt, id)
end
if address ~= '' then
  redis.call('ZADD', keys .. 'of:' .. address, createdAt, id)
  redis.call('ZADD', keys .. 'unused', createdAt, id)
  if usedAt ~= '' then
    redis.call('ZADD', keys .. 'unused', 'GT', usedAt, id)
  end
  if wish ~= '' then
    redis.call('HSET', keys .. 'wished:' .. address, wish, id)
  end
end
return {'created'}
`,
);

/** Argument: a hash. The record, or nothing. */
export const findByHashScript = redisScript(
  "find_key_by_hash",
  `${prelude}
local id = redis.call('GET', keys .. 'hash:' .. ARGV[1])
return id and record(id) or {}
`,
);

/** Arguments: ids. Their records. */
export const findScript = redisScript(
  "find_key",
  `${prelude}
local found = {}
for _, id in ipairs(ARGV) do
  found[#found + 1] = record(id)
end
return found
`,
);

/** Arguments: id, time. 1 where there is such a key. */
export const revokeScript = redisScript(
  "revoke_key",
  `${prelude}
local key = keys .. 'id:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then
  return 0
end
if redis.call('HSETNX', key, 'revoked_at', ARGV[2]) == 1 then
  redis.call('ZADD', keys .. 'revoked', ARGV[2], ARGV[1])
end
return 1
`,
);

/** Arguments: id, time, id, time … */
export const touchScript = redisScript(
  "touch_keys",
  `${prelude}
for at = 1, #ARGV, 2 do
  local id, usedAt = ARGV[at], ARGV[at + 1]
  local key = keys .. 'id:' .. id
  if redis.call('EXISTS', key) == 1 and tonumber(usedAt) > tonumber(redis.call('HGET', key, 'last_used_at') or 0) then
    redis.call('HSET', key, 'last_used_at', usedAt)
    redis.call('ZADD', keys .. 'unused', 'XX', 'GT', usedAt, id)
  end
end
return 1
`,
);

/** Arguments: revoked before, unused since, how many at most. Their number. */
export const pruneScript = redisScript(
  "prune_keys",
  `${prelude}
return forgetEnded(ARGV[1], ARGV[2], tonumber(ARGV[3]))
`,
);

/**
 * Argument: the check value of a pepper, kept unless there are keys, not revoked, that were hashed with the pepper of
 * another value. Without it, nothing is written. The value that is kept.
 */
export const pepperScript = redisScript(
  "keep_pepper",
  `local keys, value = KEYS[1], ARGV[1]
local kept = redis.call('GET', keys .. 'pepper')
if kept and redis.call('ZCARD', keys .. 'all') > redis.call('ZCARD', keys .. 'revoked') then
  return kept
end
if kept ~= value then
  redis.call('SET', keys .. 'pepper', value)
end
return value
`,
);
