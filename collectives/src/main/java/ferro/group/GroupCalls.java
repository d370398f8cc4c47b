package ferro.group;

import static java.util.Objects.requireNonNull;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.MessageStatus;
import ferro.Tensor;
import ferro.TensorMemory;
import ferro.Work;
import java.util.List;
import java.util.Optional;

/**
 * The base class of {@link ProcessGroup}, which has a method for each form of a call. A form passes a call to the
 * back end, or keeps the call until the end of the coalesced block that contains it.
 */
abstract class GroupCalls {
    private final CollectiveBackend way;
    private final Coalescing coalescing;
    private final CallOptions options;

    GroupCalls(GroupCore end, CallOptions options) {
        this.way = end.way();
        this.coalescing = end.coalescing();
        this.options = options;
    }

    final void run(Collective call) {
        Coalescing.CallBlock block = coalescing.mine();
        if (block == null) {
            way.run(call, options);
        } else {
            block.keep(call, options.label());
        }
    }

    /**
     * Starts any collective, and does not wait for other ranks. Collectives run in the order of their calls.
     *
     * @param call operation; several pending operations may use the same memory, and a later operation reads what an
     *     earlier one has written
     * @return handle
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or the root is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work submit(Collective call) {
        requireNonNull(call, "call");
        Coalescing.CallBlock block = coalescing.mine();
        if (block == null) {
            return way.submit(call, options);
        }
        block.keep(call, options.label());
        return block.later();
    }

    final Work sending(Tensor data, int to, int tag) {
        Coalescing.CallBlock block = coalescing.mine();
        if (block == null) {
            return way.send(requireNonNull(data, "data"), peer("send", "to", to), tag(tag), options);
        }
        return block.keep(
                data,
                peer("send", "to", to),
                tag(tag),
                false,
                (peer, sentTag) -> way.send(data, peer, sentTag, options));
    }

    /** Makes a send and waits for it, or keeps it until the end of a block. */
    final void sent(Tensor data, int to, int tag) {
        if (coalescing.mine() == null) {
            way.send(requireNonNull(data, "data"), peer("send", "to", to), tag(tag), options)
                    .await();
        } else {
            sending(data, to, tag);
        }
    }

    final Work sendingUntilMatched(Tensor data, int to, int tag) {
        Coalescing.CallBlock block = coalescing.mine();
        if (block == null) {
            return way.sendUntilMatched(
                    requireNonNull(data, "data"), peer("sendUntilMatched", "to", to), tag(tag), options);
        }
        return block.keep(
                data,
                peer("sendUntilMatched", "to", to),
                tag(tag),
                false,
                (peer, sentTag) -> way.sendUntilMatched(data, peer, sentTag, options));
    }

    final void sentUntilMatched(Tensor data, int to, int tag) {
        Work send = sendingUntilMatched(data, to, tag);
        if (coalescing.mine() == null) {
            send.await();
        }
    }

    /** Sends and receives at the same time. */
    final MessageStatus exchanged(Tensor sent, int to, Tensor received, int from, int tag) {
        refuseExchange(sent, received);
        peer("sendReceive", "to", to);
        HostTensor out = (HostTensor) sent;
        // refused before the receive is posted, which would take the next message
        TensorMemory.checkUsable(out, "sendReceive", "sent", false);
        if (overlap(out, (HostTensor) received)) {
            throw new IllegalArgumentException(options.named("sendReceive") + ": sent " + sent + " and received "
                    + received + " overlap: use separate memory, or sendReceiveReplace");
        }
        Work receive = way.recv(received, source("sendReceive", from), tag(tag), options);
        Work send = way.send(sent, to, tag, options);
        Work.all(List.of(receive, send)).await();
        return receive.status().orElseThrow();
    }

    /** Returns whether two views of one array or buffer have an element in common. */
    private static boolean overlap(HostTensor one, HostTensor other) {
        if (TensorMemory.memoryKey(one) != TensorMemory.memoryKey(other)
                || one.elementCount() == 0
                || other.elementCount() == 0) {
            return false;
        }
        long unit = one.isDirect() ? 1 : one.dataType().byteSize();
        long distance = (TensorMemory.memoryOffset(other) - TensorMemory.memoryOffset(one)) * unit;
        return distance >= 0 ? distance < one.byteCount() : -distance < other.byteCount();
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

    final Work receiving(Tensor data, int from, int tag) {
        Coalescing.CallBlock block = coalescing.mine();
        if (block == null) {
            return way.recv(requireNonNull(data, "data"), source("recv", from), sentTag(tag), options);
        }
        return block.keep(
                data,
                source("recv", from),
                sentTag(tag),
                true,
                (peer, sentTag) -> way.recv(data, peer, sentTag, options));
    }

    final Work receivingUpTo(Tensor data, int from, int tag) {
        Coalescing.CallBlock block = coalescing.mine();
        if (block == null) {
            return way.recvUpTo(requireNonNull(data, "data"), source("recvUpTo", from), sentTag(tag), options);
        }
        return block.keep(
                data,
                source("recvUpTo", from),
                sentTag(tag),
                true,
                (peer, sentTag) -> way.recvUpTo(data, peer, sentTag, options));
    }

    /**
     * Makes a receive and waits for it. A back end that does not tell the message has received what was asked for. Calls the
     * back end itself, so that a form is three frames away from the engine.
     */
    final MessageStatus received(Tensor data, int from, int tag) {
        coalescing.refuse("recv");
        Work work = way.recv(requireNonNull(data, "data"), source("recv", from), sentTag(tag), options);
        work.await();
        Optional<MessageStatus> status = work.status();
        return status.isPresent() ? status.get() : MessageStatus.of(from, tag, data.dataType(), bytes(data));
    }

    final MessageStatus receivedUpTo(Tensor data, int from, int tag) {
        coalescing.refuse("recvUpTo");
        Work work = way.recvUpTo(requireNonNull(data, "data"), source("recvUpTo", from), sentTag(tag), options);
        work.await();
        return work.status().orElseThrow();
    }

    final Work probing(int from, int tag) {
        coalescing.refuse("probe");
        return way.probe(source("probe", from), sentTag(tag), options);
    }

    final Work matching(int from, int tag) {
        coalescing.refuse("match");
        return way.match(source("match", from), sentTag(tag), options);
    }

    final MatchedMessage matched(Work match) {
        return new MatchedMessage(way, options, match);
    }

    /** Returns the status of a probe or a match that has not waited, or nothing if no message is there. */
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

    /** Returns a gather; {@code out} may be null, which {@link Collective#check} refuses on the root. */
    static Collective gatherOf(Tensor in, Tensor out, int root) {
        return out == null ? Collective.gather(in, root) : Collective.gather(in, out, root);
    }

    /** Returns a scatter; {@code in} may be null, which {@link Collective#check} refuses on the root. */
    static Collective scatterOf(Tensor in, Tensor out, int root) {
        return in == null ? Collective.scatter(out, root) : Collective.scatter(in, out, root);
    }

    private int peer(String call, String parameter, int rank) {
        if (rank == CollectiveBackend.ANY_SOURCE) {
            throw new InvalidRankException(
                    options.named(call) + ": only a receive takes ANY_SOURCE in place of a rank",
                    rank,
                    way.worldSize());
        }
        int worldSize = way.worldSize();
        // the name of a labelled call is a new text, which only a failure needs
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
