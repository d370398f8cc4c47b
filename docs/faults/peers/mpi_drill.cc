// A rank of the drill over MPI; errors are asked for instead of the end of the process.
// usage: mpi_drill FAULT VICTIM FOLDER
// Fault "sums": checked sums without end; what happens meanwhile is not this program's doing.
#include <mpi.h>

#include <vector>

#include "drill.h"

static void check(Drill& drill, int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  drill.stay("error", std::string(text, length));
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Drill drill(rank, atoi(argv[2]), argv[1], argv[3]);
  std::vector<float> data(kElements, rank + 2);
  for (int call = 0; call < kWarmUp; call++) {
    check(drill, MPI_Allreduce(MPI_IN_PLACE, data.data(), kElements, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD));
  }
  drill.say("going", "");
  data.assign(kElements, rank + 2);
  if (drill.fault == "count") {
    int count = drill.hit() ? kElements / 2 : kElements;
    check(drill, MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
  } else if (drill.fault == "op") {
    MPI_Op op = drill.hit() ? MPI_MAX : MPI_SUM;
    check(drill, MPI_Allreduce(MPI_IN_PLACE, data.data(), kElements, MPI_FLOAT, op, MPI_COMM_WORLD));
  } else if (drill.fault == "root") {
    check(drill, MPI_Bcast(data.data(), kElements, MPI_FLOAT, drill.hit() ? 1 : 0, MPI_COMM_WORLD));
  } else if (drill.fault == "sums") {
    for (int call = 0;; call++) {
      drill.fill(data, call);
      check(drill, MPI_Allreduce(MPI_IN_PLACE, data.data(), kElements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
      drill.sum(data, call);
    }
  } else {
    for (int call = 0;; call++) {
      if (drill.fault == "exit" && drill.hit() && call == kWarmUp) drill.leave();
      check(drill, MPI_Allreduce(MPI_IN_PLACE, data.data(), kElements, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD));
    }
  }
  drill.stay("success", "first " + std::to_string(data[0]) + " last " + std::to_string(data[kElements - 1]));
}
