package ferro.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.JoinProgressPrinter;
import ferro.spi.Settings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * The agreement of all ranks on a back end for device tensors, in a group that is joined by {@code auto}. Each rank
 * records in the store which back end the rank would open, or that the rank has no such back end. Only ranks that would
 * open a back end read the entries of the other ranks.
 *
 * <p>The agreement runs before any back end is opened. After the agreement, all ranks join the back end for host
 * tensors, so rank 0 and its store stay alive until all ranks have agreed. The key of an entry has no count of joins,
 * because ranks without devices would need a round trip for a count. A rank that joins again overwrites its entry.
 *
 * @param group   group to join
 * @param context context with the store
 */
record DeviceBackendAgreement(GroupSpec group, JoiningContext context) {
    private static final String NONE = "none";

    /**
     * Records that this rank has no back end for device tensors. The method does not wait. If no store can be opened,
     * nothing is recorded. A back end that needs a store later fails for the same reason and reports the reason.
     */
    void sayNone() {
        Optional<Store> store = context.storeIfAny();
        if (store.isPresent()) {
            say(store.get(), NONE);
        }
    }

    /**
     * Records the back end that this rank would open, and reads the entries of the other ranks. Prints lines during the
     * wait.
     *
     * @param mine kind of device and name of the back end
     * @return reason why this back end must not be opened; empty if all ranks would open the same back end
     * @throws FerroException RENDEZVOUS if ranks have recorded nothing by the deadline of joining; the message names
     *     these ranks
     */
    Optional<String> objection(String mine) {
        long until = System.nanoTime() + Deadlines.nanos(Deadlines.ofJoin(group, context));
        Store store = context.store();
        say(store, mine);
        List<CompletableFuture<byte[]>> words = new ArrayList<>();
        for (int rank = 0; rank < group.worldSize(); rank++) {
            words.add(store.when(key(rank)).toCompletableFuture());
        }
        List<Integer> none = new ArrayList<>();
        List<String> others = new ArrayList<>();
        JoinProgressPrinter.PhasePrinter lines =
                JoinProgressPrinter.resume(group.name(), context).waiting(() -> waiting(words));
        try {
            for (int rank = 0; rank < words.size(); rank++) {
                String word = await(words, rank, until);
                if (word.equals(NONE)) {
                    none.add(rank);
                } else if (!word.equals(mine)) {
                    others.add("rank " + rank + " would open " + word);
                }
            }
        } finally {
            lines.close();
        }
        if (!none.isEmpty()) {
            others.add(0, ranks(none) + " of " + group.worldSize() + " has no usable back end for device tensors");
        }
        return others.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", others));
    }

    /** Returns the line that a waiting rank prints; empty if no entry is missing. */
    String waiting(List<CompletableFuture<byte[]>> words) {
        List<Integer> silent = silent(words);
        return silent.isEmpty()
                ? ""
                : "waiting for ranks " + silent + " of " + group.worldSize()
                        + " to report whether a back end for device tensors is usable";
    }

    private void say(Store store, String word) {
        store.set(key(group.rank()), word.getBytes(StandardCharsets.UTF_8));
    }

    private String key(int rank) {
        return "auto/" + Settings.JOB_ID.of(context) + "/" + group.name() + "/" + rank;
    }

    private String await(List<CompletableFuture<byte[]>> words, int rank, long untilNanos) {
        try {
            long left = Math.max(0, untilNanos - System.nanoTime());
            return new String(words.get(rank).get(left, TimeUnit.NANOSECONDS), StandardCharsets.UTF_8);
        } catch (TimeoutException late) {
            throw late(words, late);
        } catch (ExecutionException lost) {
            throw failure(Where.of(group.name(), group.rank()), "the store failed: " + lost.getCause(), lost);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new FerroException(
                    Code.INTERRUPTED,
                    Where.of(group.name(), group.rank()),
                    prefix() + "interrupted while waiting for rank " + rank,
                    interrupted);
        }
    }

    private static List<Integer> silent(List<CompletableFuture<byte[]>> words) {
        List<Integer> silent = new ArrayList<>();
        for (int rank = 0; rank < words.size(); rank++) {
            if (!words.get(rank).isDone()) {
                silent.add(rank);
            }
        }
        return silent;
    }

    private FerroException late(List<CompletableFuture<byte[]>> words, Exception cause) {
        List<Integer> silent = silent(words);
        Duration waited = Deadlines.ofJoin(group, context);
        return failure(
                Where.of(group.name(), group.rank()).blaming(silent),
                ranks(silent) + " of " + group.worldSize() + " did not report within " + Deadlines.millis(waited)
                        + " ms whether a back end for device tensors is usable: check that all ranks run, and "
                        + "give all ranks the same ferro.backend (a rank whose ferro.backend names a back end "
                        + "does not report; ferro.join.timeout sets the time)",
                cause);
    }

    private FerroException failure(Where where, String what, Exception cause) {
        return new FerroException(Code.RENDEZVOUS, where, prefix() + what, cause);
    }

    private String prefix() {
        return "joining \"" + group.name() + "\" as rank " + group.rank() + " by -D" + Settings.BACKEND.name()
                + "=auto: ";
    }

    private static String ranks(List<Integer> ranks) {
        return "rank " + ranks.stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
