// What the drill's programs for all peers share: a rank writes its pid, when it is going, and how its call ended, one line each,
// to a file that the driver reads; stamps are milliseconds of the wall clock, which all processes of a host share.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <unistd.h>
#include <vector>

static const int kElements = 262144;
static const int kWarmUp = 100;

struct Drill {
  int rank;
  int victim;
  std::string fault;
  FILE* out;

  Drill(int rank, int victim, const char* fault, const char* folder) : rank(rank), victim(victim), fault(fault) {
    out = fopen((std::string(folder) + "/rank-" + std::to_string(rank)).c_str(), "w");
    if (out == nullptr) {
      perror(folder);
      exit(2);
    }
    fprintf(out, "pid %d\n", getpid());
    fflush(out);
  }

  bool hit() const { return rank == victim; }

  void say(const char* what, const std::string& text) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    std::string line = text;
    for (char& c : line) {
      if (c == '\n' || c == ',') c = ' ';
    }
    fprintf(out, "%s %.3f %s\n", what, now.tv_sec * 1e3 + now.tv_nsec / 1e6, line.c_str());
    fflush(out);
  }

  // Ends a call: the process stays, as one that catches the failure and saves its work does.
  void stay(const char* outcome, const std::string& text) {
    say(outcome, text);
    for (;;) pause();
  }

  // What a rank adds to call number `call` at element `at`: another number every time, so that no older sum passes for its sum.
  static float part(int rank, int call, int at) { return rank + 2 + (call + at) % 97; }

  void fill(std::vector<float>& data, int call) const {
    for (int at = 0; at < kElements; at++) data[at] = part(rank, call, at);
  }

  // Says a sum of four ranks; ends where it is wrong anywhere.
  void sum(const std::vector<float>& data, int call) {
    for (int at = 0; at < kElements; at++) {
      float right = part(0, call, at) + part(1, call, at) + part(2, call, at) + part(3, call, at);
      if (data[at] != right) stay("wrong", "call " + std::to_string(call) + " element " + std::to_string(at));
    }
    say("sum", std::to_string(call));
  }

  // Without goodbye, and with success.
  void leave() {
    say("fault", "exit(0)");
    _exit(0);
  }
};
