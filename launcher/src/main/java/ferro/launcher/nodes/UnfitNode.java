package ferro.launcher.nodes;

import ferro.FerroException;
import ferro.Store;
import ferro.backend.tcp.store.LauncherStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/** A node that cannot start its ranks. It tells the others instead of meeting them, and no rank starts on any node. */
public final class UnfitNode {
    private UnfitNode() {}

    /**
     * Tells the others before the first start of the ranks. The launcher of node 0 stays until they have read it.
     * Interruptible.
     *
     * @param connection connection to the store; stays open
     * @param own        this launcher
     * @param why        reason in words that follow the name of the node, and the exit code of all launchers
     * @param patience   how long node 0 waits for the others to come
     * @return what all nodes print: this reason, or that of another node that was first
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static NodesApartException tell(
            LauncherStore connection, NodeCard own, NodesApartException why, Duration patience)
            throws InterruptedException {
        return tell(connection, own, why, patience, Keys.FIRST);
    }

    /** Tells the others before the start of the ranks that has these keys. */
    static NodesApartException tell(
            LauncherStore connection, NodeCard own, NodesApartException why, Duration patience, Keys keys)
            throws InterruptedException {
        StartSignal said = refusal(own, why);
        try {
            Store store = connection.store();
            StartSignal decided = decided(store, said, keys);
            // a job that has begun is complete without this launcher, which claims one of its nodes
            said = decided.begins() ? said : decided;
            // the card tells node 0 that this launcher has come and need not be told anything
            Keys.first(store, keys.card(own.node()), Keys.encoded(own));
            if (own.node() == 0) {
                stay(store, own.nodes(), patience, keys);
            }
        } catch (FerroException | IllegalStateException gone) {
            return new NodesApartException(said.refusal(), said.code());
        }
        return new NodesApartException(said.refusal(), said.code());
    }

    static StartSignal refusal(NodeCard own, NodesApartException why) {
        return StartSignal.refused(own + " " + why.getMessage(), why.exitCode());
    }

    /** Refuses the start, unless it is decided already; returns the decision. */
    static StartSignal decided(Store store, StartSignal refusal, Keys keys) {
        return Keys.decoded(store.compareAndSet(keys.start(), null, Keys.encoded(refusal)), StartSignal.class);
    }

    /**
     * Waits on node 0 until the others have come, have read the reason and are gone: the store ends with the launcher
     * of node 0.
     */
    private static void stay(Store store, int nodes, Duration patience, Keys keys) throws InterruptedException {
        CompletableFuture<?>[] gone = IntStream.range(1, nodes)
                .mapToObj(node -> store.when(keys.card(node))
                        .thenApply(card -> Keys.decoded(card, NodeCard.class))
                        .thenCompose(card -> store.when(LauncherStore.goneKey(node, card.session())))
                        .toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(gone).get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException absent) {
            // a launcher that comes later finds no store
            return;
        }
    }
}
