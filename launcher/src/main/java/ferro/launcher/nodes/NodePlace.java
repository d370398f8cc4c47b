package ferro.launcher.nodes;

import ferro.FerroException;
import ferro.Store;
import ferro.backend.tcp.store.LauncherStore;
import ferro.launcher.input.NodesApartException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The place of one node among the launchers of a generation: the first launcher that publishes its card there has it.
 *
 * @param store    store of the launcher of node 0
 * @param own      launcher that takes the place
 * @param patience how long another launcher may hold the place before it counts as a second one of the same node
 * @param waiting  told of another launcher that holds the place
 */
record NodePlace(Store store, NodeCard own, Duration patience, Waiting waiting) {
    private static final int BAD_INPUT = 2;
    private static final long LOOK_AGAIN_MILLIS = 100;

    /**
     * Takes the place and returns the keys of the generation. If the job may start again and another launcher holds the
     * place, this launcher may have been started again in place of the other, and waits for the next generation.
     *
     * @throws NodesApartException if another launcher holds the place and does not go, if this launcher was started again
     *     with other options, or, with the exit code of the job, if the job ends meanwhile
     * @throws InterruptedException if the calling thread is interrupted
     */
    Keys taken(GenerationStart start) throws NodesApartException, InterruptedException {
        if (own.node() == 0) {
            opened(start);
        }
        CompletableFuture<byte[]> ended = store.when(Keys.ENDED).toCompletableFuture();
        try {
            return taken(start, ended);
        } catch (FerroException gone) {
            // the store ends with the job
            refuseEnded(ended);
            throw gone;
        }
    }

    private Keys taken(GenerationStart start, CompletableFuture<byte[]> ended)
            throws NodesApartException, InterruptedException {
        Map<Long, CompletableFuture<byte[]>> goneBySession = new HashMap<>();
        long begun = System.nanoTime();
        int told = 0;
        while (true) {
            Keys keys = new Keys(start.mayRestart() ? Math.max(start.generation(), running()) : start.generation());
            if (start.isFirst() && keys.generation() > 0) {
                refuseDifferent(keys);
            }
            byte[] there = store.compareAndSet(keys.card(own.node()), null, Keys.encoded(own));
            NodeCard holder = Keys.decoded(there, NodeCard.class);
            if (holder.equals(own)) {
                return keys;
            }
            boolean gone = goneBySession
                    .computeIfAbsent(
                            holder.session(),
                            session -> store.when(LauncherStore.goneKey(holder.node(), session))
                                    .toCompletableFuture())
                    .isDone();
            boolean late = System.nanoTime() - begun > patience.toNanos();
            if (!start.mayRestart() || late && !gone) {
                throw second(keys, holder);
            }
            if (goneBySession.size() > told) {
                told = goneBySession.size();
                waiting.held(holder);
            }
            refuseEnded(ended);
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
        }
    }

    /** Returns the generation for which launchers have met last. */
    private int running() {
        return (int) store.add(Keys.GENERATION, 0);
    }

    /** Opens a later generation, and forgets who was refused before: a node that is missing now may have been refused then. */
    private void opened(GenerationStart start) {
        if (start.isFirst()) {
            return;
        }
        store.add(Keys.GENERATION, 1);
        store.delete(LauncherStore.STRANGER);
        for (int node = 1; node < own.nodes(); node++) {
            List.of(LauncherStore.refusedKey(node), LauncherStore.otherJobKey(node))
                    .forEach(store::delete);
        }
    }

    /** Ends this launcher with the exit code of the job if the job has ended. */
    private void refuseEnded(CompletableFuture<byte[]> ended) throws NodesApartException {
        if (ended.isDone() && !ended.isCompletedExceptionally()) {
            int code = Keys.exitCode(ended.join());
            String text = "the job has ended with exit code " + code + ", so this launcher of node " + own.node()
                    + " starts no rank";
            throw new NodesApartException(text, code);
        }
    }

    /** Refuses this launcher if it was started again with other options. The others need not end for it, and wait on. */
    private void refuseDifferent(Keys keys) throws NodesApartException {
        NodeCard zero = Keys.decoded(store.get(keys.card(0), patience), NodeCard.class);
        Optional<String> difference = zero.difference(own);
        if (difference.isPresent()) {
            throw new NodesApartException(difference.get(), BAD_INPUT);
        }
    }

    /** Refuses a second launcher of one node. A generation after the first one can do without it. */
    private NodesApartException second(Keys keys, NodeCard holder) {
        String text = holder.sameNode(own);
        if (keys.generation() == 0) {
            Keys.first(store, keys.start(), Keys.encoded(StartSignal.refused(text, BAD_INPUT)));
        }
        return new NodesApartException(text, BAD_INPUT);
    }
}
