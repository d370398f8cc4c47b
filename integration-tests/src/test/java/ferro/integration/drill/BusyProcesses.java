package ferro.integration.drill;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Processes that want all of the machine. */
final class BusyProcesses implements AutoCloseable {
    private static final int COUNT = 4;

    private final List<Process> processes = new ArrayList<>();

    /** Starts four if the cell wants them: after the ranks are warm, whose start would else take long. */
    void beside(Cell cell) throws IOException {
        for (int count = 0; cell.isLoaded() && count < COUNT; count++) {
            processes.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
        }
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
    }
}
