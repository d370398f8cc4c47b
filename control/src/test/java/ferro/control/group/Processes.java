package ferro.control.group;

import ferro.spi.ProcessTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

/** A host whose processes exit when the test sets {@code exited}. */
final class Processes implements IntFunction<ProcessTable> {
    final List<String> closed = new ArrayList<>();
    private final Map<Integer, List<String>> openByRank = new HashMap<>();
    String exited;

    Processes(String exited) {
        this.exited = exited;
    }

    /** Returns the processes that a rank still watches, in the order in which it opened them. */
    List<String> open(int rank) {
        return openByRank.computeIfAbsent(rank, key -> new ArrayList<>());
    }

    @Override
    public ProcessTable apply(int rank) {
        return new ProcessTable() {
            @Override
            public String self() {
                return "process of " + rank;
            }

            @Override
            public String place() {
                return "pid " + rank + " on host h";
            }

            @Override
            public Optional<TrackedProcess> watch(String identity) {
                if (identity.equals(self())) {
                    return Optional.empty();
                }
                open(rank).add(identity);
                return Optional.of(new TrackedProcess() {
                    @Override
                    public boolean hasExited() {
                        return exited.equals(identity);
                    }

                    @Override
                    public void close() {
                        closed.add(identity);
                        open(rank).remove(identity);
                    }
                });
            }
        };
    }
}
