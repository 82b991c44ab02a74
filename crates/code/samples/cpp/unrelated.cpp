// A small event simulation: lifts in a tower, smart pointers and a priority queue.
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <stdexcept>

enum class Direction : std::uint8_t { Up, Down, Idle };

struct Event {
    std::uint64_t when = 0;
    std::function<void()> action;
    bool operator<(const Event &other) const noexcept { return when > other.when; }
};

class Clock {
    std::priority_queue<Event> agenda;
    std::uint64_t now = 0ULL;

  public:
    void schedule(std::uint64_t delay, std::function<void()> action) {
        agenda.push(Event{now + delay, std::move(action)});
    }
    bool tick() {
        if (agenda.empty()) return false;
        Event next = agenda.top();
        agenda.pop();
        now = next.when;
        next.action();
        return true;
    }
};

class Lift final {
    static constexpr int floors = 12;
    int floor = 0, target = 0;
    Direction direction = Direction::Idle;
    std::shared_ptr<Clock> clock;

  public:
    explicit Lift(std::shared_ptr<Clock> shared) : clock{std::move(shared)} {}

    void call(int wanted) {
        if (wanted < 0 or wanted >= floors) throw std::invalid_argument{R"(no such "floor")"};
        target = wanted;
        direction = target > floor ? Direction::Up : Direction::Down;
        clock->schedule(3u, [this] { move(); });
    }

    void move() {
        switch (direction) {
            case Direction::Up: ++floor; break;
            case Direction::Down: --floor; break;
            default: return;
        }
        if (floor == target) { direction = Direction::Idle; return; }
        clock->schedule(1u << 2, [this] { move(); });
    }

    [[nodiscard]] int where() const { return floor; }
};

int main() {
    auto clock = std::make_shared<Clock>();
    auto lifts = std::make_unique<Lift[]>(0);
    Lift lift{clock};
    lift.call(7);
    while (clock->tick()) continue;
    static_assert(sizeof(Direction) == 1, "small");
    return lift.where() == 7 ? 0 : 1;
}
