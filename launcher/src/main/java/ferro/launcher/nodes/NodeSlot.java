package ferro.launcher.nodes;

import ferro.FerroException;
import ferro.Store;
import ferro.backend.tcp.store.LauncherClient;
import ferro.launcher.input.JobStartException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The slot of one node among the launchers of a generation. The first launcher that publishes its entry holds the slot.
 *
 * @param store    store of the launcher of node 0
 * @param own      entry of the launcher that takes the slot
 * @param patience how long another launcher may hold the slot before this counts as a second launcher of the same node
 * @param waiting  called when another launcher holds the slot
 */
record NodeSlot(Store store, LauncherEntry own, Duration patience, WaitListener waiting) {
    private static final int BAD_INPUT = 2;
    private static final long LOOK_AGAIN_MILLIS = 100;

    /**
     * Takes the slot, and returns the keys of the generation. If the job may start again and another launcher holds the
     * slot, this launcher may be a replacement of the other launcher. A possible replacement waits for the next
     * generation.
     *
     * @throws JobStartException if another launcher holds the slot and does not leave, if this launcher was started
     *     again with other options, or if the job ends (with the exit code of the job)
     * @throws InterruptedException if the calling thread is interrupted
     */
    StoreKeys taken(GenerationStart start) throws JobStartException, InterruptedException {
        if (own.node() == 0) {
            opened(start);
        }
        CompletableFuture<byte[]> ended = store.when(StoreKeys.ENDED).toCompletableFuture();
        try {
            return taken(start, ended);
        } catch (FerroException gone) {
            // the store ends with the job
            refuseEnded(ended);
            throw gone;
        }
    }

    private StoreKeys taken(GenerationStart start, CompletableFuture<byte[]> ended)
            throws JobStartException, InterruptedException {
        Map<Long, CompletableFuture<byte[]>> goneBySession = new HashMap<>();
        long begun = System.nanoTime();
        int told = 0;
        while (true) {
            StoreKeys keys =
                    new StoreKeys(start.mayRestart() ? Math.max(start.generation(), running()) : start.generation());
            if (start.isFirst() && keys.generation() > 0) {
                refuseDifferent(keys);
            }
            byte[] there = store.compareAndSet(keys.card(own.node()), null, StoreKeys.encoded(own));
            LauncherEntry holder = StoreKeys.decoded(there, LauncherEntry.class);
            if (holder.equals(own)) {
                return keys;
            }
            boolean gone = goneBySession
                    .computeIfAbsent(
                            holder.session(),
                            session -> store.when(LauncherClient.goneKey(holder.node(), session))
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

    /** Returns the last generation for which launchers have waited. */
    private int running() {
        return (int) store.add(StoreKeys.GENERATION, 0);
    }

    /** Opens a later generation. Forgets earlier refusals, because the launcher of a missing node may be among them. */
    private void opened(GenerationStart start) {
        if (start.isFirst()) {
            return;
        }
        store.add(StoreKeys.GENERATION, 1);
        store.delete(LauncherClient.STRANGER);
        for (int node = 1; node < own.nodes(); node++) {
            List.of(LauncherClient.refusedKey(node), LauncherClient.otherJobKey(node))
                    .forEach(store::delete);
        }
    }

    /** Ends this launcher with the exit code of the job if the job has ended. */
    private void refuseEnded(CompletableFuture<byte[]> ended) throws JobStartException {
        if (ended.isDone() && !ended.isCompletedExceptionally()) {
            int code = StoreKeys.exitCode(ended.join());
            String text = "the job has ended with exit code " + code + ", so this launcher of node " + own.node()
                    + " starts no rank";
            throw new JobStartException(text, code);
        }
    }

    /** Refuses this launcher if it was started again with other options. Other launchers continue to wait. */
    private void refuseDifferent(StoreKeys keys) throws JobStartException {
        LauncherEntry zero = StoreKeys.decoded(store.get(keys.card(0), patience), LauncherEntry.class);
        Optional<String> difference = zero.difference(own);
        if (difference.isPresent()) {
            throw new JobStartException(difference.get(), BAD_INPUT);
        }
    }

    /**
     * Refuses a second launcher of one node. In the first generation, the refusal also ends the wait of the other
     * launchers. A later generation can continue without the refused launcher.
     */
    private JobStartException second(StoreKeys keys, LauncherEntry holder) {
        String text = holder.sameNode(own);
        if (keys.generation() == 0) {
            StoreKeys.first(store, keys.start(), StoreKeys.encoded(StartDecision.refused(text, BAD_INPUT)));
        }
        return new JobStartException(text, BAD_INPUT);
    }
}
