package ferro.group;

import static java.util.Objects.requireNonNull;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.MessageKind;
import ferro.MessageStatus;
import ferro.Tensor;
import ferro.TensorMemory;
import ferro.Work;
import ferro.collectives.engine.AccessedRanges;
import java.util.List;
import java.util.Optional;

/**
 * The base class of {@link ProcessGroup}, which has a method for each form of a call. A form passes a call to the
 * back end, or keeps the call until the end of the coalesced block that contains it.
 */
abstract class ProcessGroupBase {
    private final CollectiveBackend way;
    private final CoalescedBlocks coalescing;
    private final CallOptions options;

    ProcessGroupBase(GroupCore end, CallOptions options) {
        this.way = end.way();
        this.coalescing = end.coalescing();
        this.options = options;
    }

    final void run(Collective call) {
        CoalescedBlocks.CallBlock block = coalescing.mine();
        if (block == null) {
            way.run(call, options);
        } else {
            block.keep(call, options.label());
        }
    }

    /**
     * Starts a collective of any kind, and does not wait for other ranks. Collectives run in the order of their calls.
     *
     * @param call operation; several pending operations may use the same memory, and a later operation reads what an
     *     earlier operation has written
     * @return handle
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or the root is not a rank of the
     *     group ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work submit(Collective call) {
        requireNonNull(call, "call");
        CoalescedBlocks.CallBlock block = coalescing.mine();
        if (block == null) {
            return way.submit(call, options);
        }
        block.keep(call, options.label());
        return block.later();
    }

    /** Starts a message, or keeps the message until the end of a block. */
    final Work begun(Message message) {
        check(message);
        CoalescedBlocks.CallBlock block = coalescing.mine();
        return block == null ? way.submit(message, options) : block.keep(message, options);
    }

    /** Runs a send to its end, or keeps the send until the end of a block. */
    final void sent(Message send) {
        check(send);
        CoalescedBlocks.CallBlock block = coalescing.mine();
        if (block == null) {
            way.transfer(send, options);
        } else {
            block.keep(send, options);
        }
    }

    /** Sends and receives at the same time. */
    final MessageStatus exchanged(Tensor sent, int to, Tensor received, int from, int tag) {
        refuseExchange(sent, received);
        peer("sendReceive", "to", to);
        HostTensor out = (HostTensor) sent;
        // refused before the receive is posted, because a posted receive would take the next message
        TensorMemory.checkUsable(out, "sendReceive", "sent", false);
        if (AccessedRanges.alias(out, (HostTensor) received)) {
            throw new IllegalArgumentException(options.named("sendReceive") + ": sent " + sent + " and received "
                    + received + " overlap: use separate memory, or sendReceiveReplace");
        }
        Work receive = way.submit(Message.recv(received, source("sendReceive", from), tag(tag)), options);
        Work send = way.submit(Message.send(sent, to, tag), options);
        Work.all(List.of(receive, send)).await();
        return receive.status().orElseThrow();
    }

    final void refuseExchange(Tensor sent, Tensor received) {
        coalescing.refuse("sendReceive");
        for (Tensor data : List.of(sent, received)) {
            if (data instanceof DeviceTensor) {
                throw new UnsupportedOperationException(options.named("sendReceive") + " of " + data
                        + ": messages of device tensors run one after another; let one rank send first and the other "
                        + "rank receive first, or use host tensors");
            }
        }
        Optional<String> why = way.noExchangeBecause();
        if (why.isPresent()) {
            throw new UnsupportedOperationException(options.named("sendReceive") + " on rank " + way.rank() + ": "
                    + why.get() + "; let one rank send first and the other rank receive first");
        }
    }

    /**
     * Runs a receive to its end. If the back end reports no status, the status is that of the requested message. This
     * method calls the back end directly, so that only three stack frames are between a form and the engine.
     */
    final MessageStatus received(Message receive) {
        coalescing.refuse(receive.kind().label());
        check(receive);
        Optional<MessageStatus> status = way.transfer(receive, options).status();
        Tensor data = receive.tensor();
        return status.isPresent() || receive.kind() != MessageKind.RECEIVE
                ? status.orElseThrow()
                : MessageStatus.of(receive.peer(), receive.tag(), data.dataType(), bytes(data));
    }

    /** Starts a probe or a match that does not wait. */
    final Work probing(Message probe) {
        coalescing.refuse(probe.kind().label());
        return begun(probe);
    }

    /** Runs a match to its end. */
    final MatchedMessage matched(Message match) {
        coalescing.refuse(match.kind().label());
        check(match);
        return matched(way.transfer(match, options));
    }

    final MatchedMessage matched(Work match) {
        return new MatchedMessage(way, options, match);
    }

    /** Returns the status of a probe or a match that did not wait; empty if no message has come. */
    static Optional<MessageStatus> statusNow(Work begun) {
        if (begun.cancel()) {
            return Optional.empty();
        }
        begun.await();
        return begun.status();
    }

    private static long bytes(Tensor data) {
        return data.elementCount() * data.dataType().byteSize();
    }

    private void check(Message message) {
        String call = message.kind().label();
        if (message.kind().isSend()) {
            peer(call, "to", message.peer());
            tag(message.tag());
        } else {
            source(call, message.peer());
            sentTag(message.tag());
        }
    }

    private int peer(String call, String parameter, int rank) {
        if (rank == CollectiveBackend.ANY_SOURCE) {
            throw new InvalidRankException(
                    options.named(call) + ": only a receive takes ANY_SOURCE in place of a rank",
                    rank,
                    way.worldSize());
        }
        int worldSize = way.worldSize();
        // only a failure needs the name of a labelled call, which is a new text
        return rank >= 0 && rank < worldSize
                ? rank
                : InvalidRankException.check(options.named(call), parameter, rank, worldSize);
    }

    private int source(String call, int rank) {
        if (rank == CollectiveBackend.ANY_TAG) {
            throw new IllegalArgumentException("ANY_TAG stands in place of a tag, found it in place of a rank of 0 to "
                    + (way.worldSize() - 1) + ": name the rank before the tag");
        }
        return rank == CollectiveBackend.ANY_SOURCE ? rank : peer(call, "from", rank);
    }

    private static int sentTag(int tag) {
        return tag == CollectiveBackend.ANY_TAG ? tag : tag(tag);
    }

    private static int tag(int tag) {
        if (tag == CollectiveBackend.ANY_TAG || tag == CollectiveBackend.ANY_SOURCE) {
            String name = tag == CollectiveBackend.ANY_TAG ? "ANY_TAG" : "ANY_SOURCE";
            throw new IllegalArgumentException("a tag must be 0 or more, found " + name
                    + ": only a receive takes ANY_TAG, and ANY_SOURCE stands in place of a rank");
        }
        if (tag < 0) {
            throw new IllegalArgumentException(
                    "a tag must be 0 or more, found " + tag + ": negative tags are reserved for ferro");
        }
        return tag;
    }
}
