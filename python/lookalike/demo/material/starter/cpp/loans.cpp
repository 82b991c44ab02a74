// Homework 4: the library's loans. Each line of the input reads day,member,title,action.
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
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

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: loans FILE\n";
        return 2;
    }
    std::vector<Event> events = read_events(argv[1]);
    // Your code goes here.
    return 0;
}
