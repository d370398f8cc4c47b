package ferro.integration.drill;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Processes that want all of the machine. */
final class BusyProcesses implements AutoCloseable {
    private static final int COUNT = 4;
    /** As long as the test's process, whose pid is the argument, runs. */
    private static final String LOOP =
            "while [ -d /proc/$0 ]; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done";

    private final List<Process> processes = new ArrayList<>();

    /** Starts four if the cell wants them: after the ranks are warm, whose start would else take long. */
    void beside(Cell cell) throws IOException {
        String own = "" + ProcessHandle.current().pid();
        for (int count = 0; cell.isLoaded() && count < COUNT; count++) {
            processes.add(new ProcessBuilder("sh", "-c", LOOP, own).start());
        }
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
    }
}
