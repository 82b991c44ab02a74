#!/usr/bin/env lua
--[==[
  The game of life on a torus, with coroutines and metatables.
]==]
local Grid, meta = {}, {}

local function wrap(n, size) return (n - 1) % size + 1 end

meta.__index = function(grid, key)
  if type(key) == 'number' then
    local x, y = key & 0xFFFF, key >> 16
    return rawget(grid, wrap(y, grid.rows) * grid.cols + wrap(x, grid.cols))
  end
  return Grid[key]
end

meta.__tostring = function(grid)
  local lines = {}
  for y = 1, grid.rows do
    local cells = {}
    for x = grid.cols, 1, -1 do cells[#cells + 1] = grid:at(x, y) and '#' or '.' end
    lines[y] = table.concat(cells)
  end
  return table.concat(lines, '\n')
end

function Grid:at(x, y)
  return not not rawget(self, wrap(y, self.rows) * self.cols + wrap(x, self.cols))
end

function Grid:neighbours(x, y)
  local total = 0
  for dy = -1, 1 do
    for dx = -1, 1 do
      if (dx ~= 0 or dy ~= 0) and self:at(x + dx, y + dy) then total = total + 1 end
    end
  end
  return total
end

local function generations(grid)
  return coroutine.wrap(function(...)
    repeat
      coroutine.yield(grid, ...)
      local next = setmetatable({ rows = grid.rows, cols = grid.cols; kind = [[life]] }, meta)
      for y = 1, grid.rows do
        for x = 1, grid.cols do
          local n = grid:neighbours(x, y)
          if n == 3 or n == 2 and grid:at(x, y) then next[y * grid.cols + x] = true end
        end
      end
      grid = next
    until grid == nil
  end)
end

local start <const> = setmetatable({ rows = 5, cols = 5 }, meta)
for _, key in ipairs { 7, 13, 16, 17, 18 } do rawset(start, key, true) end

local step = generations(start)
for i = 1, 10 do
  local ok, grid = pcall(step)
  if not ok then goto done end
  print(i, grid)
  ::continue::
end
::done::
return Grid
