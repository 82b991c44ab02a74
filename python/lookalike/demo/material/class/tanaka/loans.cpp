// Homework 4: the library's loans. Each line of the input reads day,member,title,action.
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

const int days_free = 21;
const int cents_per_day = 20;

// One line of the input.
struct Event {
    int day;
    std::string member;
    std::string title;
    std::string action;
};

// Returns the events of a file.
std::vector<Event> read_events(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot open " + path);
    }
    std::vector<Event> events;
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        std::istringstream fields(line);
        Event event;
        std::string day;
        std::getline(fields, day, ',');
        std::getline(fields, event.member, ',');
        std::getline(fields, event.title, ',');
        std::getline(fields, event.action, ',');
        event.day = std::stoi(day);
        events.push_back(event);
    }
    return events;
}

using Key = std::pair<std::string, std::string>;

struct State {
    std::map<Key, int> open;
    std::map<std::string, int> fines;
    std::map<std::string, int> counts;
    int today = 0;
};

// Days beyond the free ones.
int overdue(int from, int to) {
    int days = to - from - days_free;
    return days > 0 ? days : 0;
}

// Plays all events in order.
State replay(const std::vector<Event>& events) {
    State state;
    for (const Event& event : events) {
        Key key{event.member, event.title};
        auto found = state.open.find(key);
        if (event.action == "out") {
            state.open[key] = event.day;
            ++state.counts[event.title];
        } else if (found != state.open.end()) {
            state.fines[event.member] += overdue(found->second, event.day) * cents_per_day;
            state.open.erase(found);
        }
        state.today = event.day;
    }
    for (const auto& [key, day] : state.open) {
        state.fines[key.first] += overdue(day, state.today) * cents_per_day;
    }
    return state;
}

// Who has what.
void print_open(const std::map<Key, int>& open) {
    std::cout << "Books that are out\n";
    for (const auto& [key, day] : open) {
        std::cout << "  " << key.second << " (" << key.first << ", day " << day << ")\n";
    }
}

// Euros and cents, aligned.
void print_fines(const std::map<std::string, int>& fines) {
    std::cout << "Fines\n";
    for (const auto& [member, cents] : fines) {
        if (cents == 0) {
            continue;
        }
        std::cout << "  " << std::setw(12) << std::left << member;
        std::cout << cents / 100 << '.' << std::setw(2) << std::setfill('0') << std::right << cents % 100;
        std::cout << std::setfill(' ') << '\n';
    }
}

// A multimap sorts the titles by their count.
void print_top(const std::map<std::string, int>& counts, std::size_t wanted) {
    std::multimap<int, std::string, std::greater<int>> by_count;
    for (const auto& [title, count] : counts) {
        by_count.emplace(count, title);
    }
    std::cout << "Most borrowed\n";
    for (const auto& [count, title] : by_count) {
        if (wanted-- == 0) {
            break;
        }
        std::cout << "  " << count << " x " << title << '\n';
    }
}

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: loans FILE\n";
        return 2;
    }
    std::vector<Event> events = read_events(argv[1]);
    State state = replay(events);
    print_open(state.open);
    print_fines(state.fines);
    print_top(state.counts, 3);
    return 0;
}
