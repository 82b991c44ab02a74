-- Grade book: reads scores, prints a report.
local LIMIT = 100
local Book = {}
Book.__index = Book

function Book.new(title)
  local self = setmetatable({}, Book)
  self.title = title
  self.scores = {}
  self.refused = 0
  return self
end

-- Adds a score, unless it cannot be one.
function Book:add(name, score)
  if score < 0 or score > LIMIT then
    self.refused = self.refused + 1
    print("bad score for " .. name .. ": " .. score)
    return false
  end
  if self.scores[name] == nil then
    self.scores[name] = {}
  end
  table.insert(self.scores[name], score)
  return true
end

local function mean(list)
  local sum = 0
  for i = 1, #list do
    sum = sum + list[i]
  end
  if #list == 0 then
    return 0.0
  end
  return sum / #list
end

--[[ The score in the middle. ]]
local function median(list)
  local sorted = {table.unpack(list)}
  table.sort(sorted)
  local half = math.floor(#sorted / 2)
  if #sorted % 2 == 1 then
    return sorted[half + 1]
  else
    return (sorted[half] + sorted[half + 1]) / 2
  end
end

function Book:histogram(width)
  local bins = {}
  for name, list in pairs(self.scores) do
    local bin = math.floor(mean(list) / width)
    bins[bin] = (bins[bin] or 0) + 1
  end
  for bin = 0, LIMIT / width do
    io.write(string.format("%3d ", bin * width), string.rep('*', bins[bin] or 0), "\n")
  end
end

function Book:ranking()
  local places = {}
  for name, list in pairs(self.scores) do
    places[#places + 1] = {name = name, mean = mean(list)}
  end
  table.sort(places, function(a, b) return a.mean > b.mean end)
  return places
end

local book = Book.new("algorithms")
local number = 0
for line in io.lines(arg[1]) do
  number = number + 1
  local name, score = line:match("^(%a+),%s*([%d.]+)$")
  if name and tonumber(score) then
    book:add(name, tonumber(score))
  elseif line ~= '' then
    print("cannot read line", number)
  end
end
book:histogram(10)
for place, row in ipairs(book:ranking()) do
  print(place, row.name, row.mean, median(book.scores[row.name]))
end
while number > 0 do
  number = number // 2
end
