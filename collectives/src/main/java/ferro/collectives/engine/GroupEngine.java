package ferro.collectives.engine;

import ferro.Allocation;
import ferro.CallCounters;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Medium;
import ferro.Message;
import ferro.MessageKind;
import ferro.TensorMemory;
import ferro.Work;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureFactory;
import ferro.control.group.GroupControl;
import ferro.control.group.SubgroupAgreement;
import ferro.control.membership.Hashing;
import ferro.spi.ControlLane;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A complete back end over a medium. {@link OperationQueue} runs collectives, {@link PointToPointQueue} moves messages,
 * and {@link GroupControl} handles failures. {@link ProgressLoop} makes progress on collectives and messages.
 * {@link GroupEngine} accepts the calls of users, and {@link GroupLifecycle} has the parts of the engine.
 */
public final class GroupEngine implements CollectiveBackend {
    private final GroupSpec group;
    private final boolean stepped;
    private final GroupLifecycle parts;
    private final Transport bare;
    private final GroupControl control;
    private final ProgressLoop loop;
    private final OperationQueue collectives;
    private final PointToPointQueue messages;
    private final SubgroupAgreement agreement;
    /** Counters of the calls by which the engine itself has prepared this group. */
    private volatile CallCounters bootstrap = CallCounters.NONE;

    /** Creates an engine on a transport. The caller calls {@link #warm} and {@link #meet} next. */
    public GroupEngine(Transport bare, GroupSpec group, RankContext context, GroupIdentity identity) {
        this.group = group;
        this.bare = bare;
        this.stepped = identity.options().stepped();
        this.parts = new GroupLifecycle(bare, group, context, identity);
        this.control = parts.control;
        this.loop = parts.loop;
        this.collectives = parts.collectives;
        this.messages = parts.messages;
        this.agreement = control.agreement();
        parts.open();
    }

    /** Runs the code that handles a failure once, so that the first failure does not wait for cold code. */
    public GroupEngine warm() {
        control.warm();
        return this;
    }

    /** Determines with other ranks which ranks share memory. The caller calls this method before it uses the group. */
    public GroupEngine meet() {
        parts.localPeers.meet(this, parts.identity.isJoined(group));
        bootstrap = counted();
        return this;
    }

    @Override
    public Allocation allocate(DataType dataType, long elementCount, Duration timeout) {
        loop.refuseInside("allocate");
        checkUsable("allocate");
        return parts.localPeers.allocate(this, dataType, elementCount, timeout);
    }

    @Override
    public String linkReport() {
        return parts.localPeers.report();
    }

    @Override
    public Medium medium() {
        return parts.localPeers.medium();
    }

    @Override
    public int rank() {
        return group.rank();
    }

    @Override
    public int worldSize() {
        return group.worldSize();
    }

    @Override
    public Duration timeout() {
        return group.timeout();
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return parts.planner.unsupportedBecause(call);
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        Objects.requireNonNull(options, "options");
        PendingWork work = collectives.submit(call, options.label(), options.timeout());
        loop.submitted();
        return work;
    }

    @Override
    public void run(Collective call, CallOptions options) {
        Objects.requireNonNull(options, "options");
        if (stepped) {
            throw FailureFactory.wouldBlock(
                    group, options.named(call.kind().label()), ": submit it and go on in completion()");
        }
        collectives.run(call, options, messages.isIdle());
    }

    @Override
    public void coalesced(List<Collective> calls, List<String> labels, Duration timeout) {
        if (stepped) {
            throw FailureFactory.wouldBlock(group, "coalesced", ": submit the calls and go on in completion()");
        }
        Work.all(queued(calls, labels, timeout)).await();
    }

    @Override
    public Work submitCoalesced(List<Collective> calls, List<String> labels, Duration timeout) {
        Work all = Work.all(queued(calls, labels, timeout));
        loop.submitted();
        return all;
    }

    private List<PendingWork> queued(List<Collective> calls, List<String> labels, Duration timeout) {
        try {
            return new CallFuser(collectives, parts.planner, group.worldSize()).submit(calls, labels, timeout);
        } catch (RuntimeException | Error failure) {
            if (!collectives.isIdle()) {
                // some of the calls may be queued, and no caller waits for them
                loop.submitted();
            }
            throw failure;
        }
    }

    @Override
    public Work submit(Message message, CallOptions options) {
        PendingWork work = queued(message, options);
        loop.submitted();
        return work;
    }

    @Override
    public Work transfer(Message message, CallOptions options) {
        PendingWork work = queued(message, options);
        work.await();
        return work;
    }

    /** Queues a message on which this thread makes progress in its next call. */
    PendingWork queued(Message message, CallOptions options) {
        MessageKind kind = Objects.requireNonNull(message, "message").kind();
        Objects.requireNonNull(options, "options");
        if (kind.isSend() || message.peer() != ANY_SOURCE && message.matched() == null) {
            InvalidRankException.check(kind.label(), kind.isSend() ? "to" : "from", message.peer(), group.worldSize());
        }
        if (message.tensor() instanceof DeviceTensor) {
            throw new UnsupportedOperationException(parts.planner.refusalOnDevice(options.named(kind.label())));
        }
        if (message.tensor() instanceof HostTensor host) {
            TensorMemory.checkUsable(host, kind.label(), "tensor", !kind.isSend());
        }
        checkUsable(options.named(kind.label()));
        return messages.submit(message, options).work;
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        transfer(Message.send(tensor(message), to, tag), CallOptions.of(timeout));
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        if (Objects.requireNonNull(message, "message").isReadOnly()) {
            throw new IllegalArgumentException("cannot receive into a read-only buffer, found " + message);
        }
        transfer(Message.recv(tensor(message), from, tag), CallOptions.of(timeout));
    }

    /** Returns the remaining bytes of a message as a tensor; position and limit stay unchanged. */
    private static HostTensor tensor(ByteBuffer message) {
        if (Objects.requireNonNull(message, "message").isDirect() && !message.isReadOnly()) {
            return HostTensor.of(DataType.INT8, message.duplicate().order(ByteOrder.nativeOrder()));
        }
        if (message.hasArray()) {
            int from = message.arrayOffset() + message.position();
            return HostTensor.of(DataType.INT8, message.array(), from, message.remaining());
        }
        byte[] bytes = new byte[message.remaining()];
        message.duplicate().get(bytes);
        return HostTensor.of(bytes);
    }

    @Override
    public void barrier(Duration timeout) {
        run(Collective.barrier(), timeout);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        if (stepped) {
            throw FailureFactory.wouldBlock(group, "newGroup(" + name + ")", "");
        }
        loop.refuseInside("newGroup(" + name + ")");
        checkUsable("newGroup(" + name + ")");
        checkMembers(ranks, name, timeout);
        int position = agreement.position(ranks);
        agreement.making().begun();
        GroupEngine made;
        try {
            made = opened(ranks, name, position, agreement.reach(parts.identity.value(), ranks, timeout));
        } finally {
            agreement.making().ended();
        }
        try {
            return made.meet();
        } catch (FerroException consequence) {
            throw causeOf(consequence);
        }
    }

    /** Makes a subgroup as {@link #newGroup} does, but without waiting. Timers check the deadline. */
    public CompletionStage<GroupEngine> form(int[] ranks, String name, Duration timeout) {
        checkUsable("newGroup(" + name + ")");
        checkMembers(ranks, name, timeout);
        int[] members = ranks.clone();
        int position = agreement.position(members);
        SubgroupAgreement.CreationAttempt attempt = agreement.begin(parts.identity.value(), members, timeout);
        agreement.making().begun();
        lookAgain(attempt);
        return attempt.end()
                .thenApplyAsync(agreed -> opened(members, name, position, agreed), parts.context.background())
                .whenComplete((made, failure) -> agreement.making().ended());
    }

    private static void checkMembers(int[] ranks, String name, Duration timeout) {
        Objects.requireNonNull(ranks, "ranks");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(timeout, "timeout");
    }

    private void lookAgain(SubgroupAgreement.CreationAttempt attempt) {
        if (!attempt.hasEnded()) {
            long wait = attempt.look() - parts.context.nanoTime();
            Future<?> timer = parts.context.background().schedule(() -> lookAgain(attempt), wait, TimeUnit.NANOSECONDS);
            attempt.end().whenComplete((agreed, failure) -> timer.cancel(false));
        }
    }

    /** Makes the engine of a subgroup after its members have agreed to make the subgroup. */
    private GroupEngine opened(int[] members, String name, int position, long agreed) {
        GroupSpec spec = GroupSpec.of(group.name() + name, position, members.length, group.timeout());
        GroupIdentity identity = parts.identity.child(agreed, members);
        Transport medium = parts.transport.subgroup(members, agreed);
        GroupEngine made = new GroupEngine(medium, spec, parts.context, identity);
        agreement.made().opened(agreed, made.control);
        return made;
    }

    /**
     * Returns the exception for a subgroup that could not be prepared. If the parent group has failed, the failure of
     * the parent group is the cause, and the failure of the subgroup is a consequence.
     */
    private FerroException causeOf(FerroException notReady) {
        Failure ofParent = control.failure();
        if (ofParent == null) {
            return notReady;
        }
        Where where = Where.of(group.name(), group.rank())
                .blaming(ofParent.culprits())
                .during("newGroup", -1);
        String text = "newGroup on group \"" + group.name() + "\" " + agreement.self() + ": " + ofParent.text();
        return new FerroException(ofParent.code(), where, text, notReady);
    }

    @Override
    public Optional<FerroException> failure() {
        return Optional.ofNullable(control.failure())
                .map(failure -> FailureFactory.exception(group, control.self(), failure, control.ends()));
    }

    @Override
    public CallCounters counters() {
        return counted().minus(bootstrap);
    }

    private CallCounters counted() {
        return parts.recorder().counter().counters();
    }

    @Override
    public void onEvent(Consumer<GroupEvent> listener) {
        parts.listeners.add(listener);
    }

    @Override
    public void joinedBy(Thread thread) {
        control.joinedBy(Objects.requireNonNull(thread, "thread"));
    }

    @Override
    public Set<Integer> lost() {
        return control.lostRanks();
    }

    @Override
    public Set<Integer> silentRanks(Duration within) {
        return stepped ? Set.of() : control.silentRanks(Deadlines.nanos(Objects.requireNonNull(within, "within")));
    }

    @Override
    public void abort(Throwable cause) {
        // a call that is refused because the JVM exits is not a failure, so the other ranks are not notified
        if (!parts.ending.isExit()) {
            control.failUnlessFailed(FailureFactory.failure(group, control.self(), cause));
        }
    }

    @Override
    public void close() {
        close(Duration.ofSeconds(5));
    }

    @Override
    public void close(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (!collectives.close()) {
            return;
        }
        try {
            parts.close(timeout);
        } finally {
            // writing the recording waits for a disk, which must not happen with the progress lock held
            parts.endRecording();
        }
        parts.throwUntold();
    }

    @Override
    public Path writeFlightRecord(Path folder) throws IOException {
        return parts.writeFlightRecord(folder);
    }

    /**
     * Returns a control lane between the ranks of this group for another back end of the same ranks. The other back end
     * closes the lane. All ranks must pass the same {@code purpose}.
     */
    public ControlLane controlLane(long purpose) {
        int[] all = new int[group.worldSize()];
        for (int rank = 0; rank < all.length; rank++) {
            all[rank] = rank;
        }
        return bare.subgroup(all, Hashing.mix(parts.identity.value(), purpose));
    }

    /** Returns the parts of this engine, for tests. */
    GroupLifecycle parts() {
        return parts;
    }

    /** Runs one iteration of a stepped engine. */
    public boolean step() {
        return loop.step();
    }

    void checkUsable(String what) {
        parts.checkUsable(what);
    }

    @Override
    public String toString() {
        return "group \"" + group.name() + "\" rank " + group.rank() + " of " + group.worldSize();
    }
}
