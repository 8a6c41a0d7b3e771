-- For wrk: sends the requests of a file in turn; ######### in them becomes a number that rises.
-- Arguments: the file (requests separated by NUL), the first number, and optionally the milliseconds
-- between a response and the next request of a connection.
local requests, templates, number = {}, {}, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for text in file:read("*a"):gmatch("[^%z]+") do
    requests[#requests + 1] = text
    templates[#templates + 1] = text:find("#########", 1, true) ~= nil
  end
  number = tonumber(args[2])
  if args[3] then
    local milliseconds = tonumber(args[3])
    delay = function() return milliseconds end
  end
end

function request()
  number = number + 1
  local index = number % #requests + 1
  if templates[index] then
    return (requests[index]:gsub("#########", string.format("%09d", number)))
  end
  return requests[index]
end

function done(summary, latency)
  local errors = 0
  for _, count in pairs(summary.errors) do errors = errors + count end
  io.write(string.format(
    '\n{"requests": %d, "rate": %f, "p50": %f, "p99": %f, "errors": %d}\n',
    summary.requests, 1e6 * summary.requests / summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, errors))
end
