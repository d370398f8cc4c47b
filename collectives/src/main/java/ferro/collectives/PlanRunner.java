package ferro.collectives;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.control.Names;
import ferro.collectives.plan.Region;
import ferro.collectives.reduce.Copies;
import ferro.spi.CallHeader;
import java.util.BitSet;

/**
 * Executes schedules over links, one at a time: posts what its dependencies allow and counts what is finished. Nothing here
 * waits, and nothing is allocated once the arrays are long enough.
 */
final class PlanRunner implements Runner {
    private static final Region[] REGIONS = Region.values();

    private final Lanes lanes;
    private final Scratch scratch = new Scratch();
    private final Copies copies = new Copies();
    private final HostTensor[] memory = new HostTensor[REGIONS.length];
    private long[] sendTarget = new long[64];
    private long[] receiveTarget = new long[64];
    private Prepared prepared;
    private Schedule schedule;
    private CallHeader call;
    private ReduceOp op;
    private int sendsPosted;
    private int sendsDone;
    private int receivesPosted;
    private int receivesDone;
    private long bytesBefore;

    PlanRunner(Lanes lanes) {
        this.lanes = lanes;
    }

    @Override
    public void begin(Operation operation) {
        Prepared what = operation.prepared();
        Schedule next = what.schedule;
        // first what may fail: nothing is begun then
        HostTensor room = scratch.of(what.type, next.scratchElements);
        prepared = what;
        call = operation;
        schedule = next;
        op = what.op == ReduceOp.AVG ? ReduceOp.SUM : what.op;
        memory[Region.IN.ordinal()] = operation.in();
        memory[Region.OUT.ordinal()] = operation.out();
        memory[Region.SCRATCH.ordinal()] = room;
        sendsPosted = 0;
        sendsDone = 0;
        receivesPosted = 0;
        receivesDone = 0;
        bytesBefore = lanes.bytesMoved();
        if (sendTarget.length < next.sends.count) {
            sendTarget = new long[next.sends.count];
        }
        if (receiveTarget.length < next.receives.count) {
            receiveTarget = new long[next.receives.count];
        }
    }

    @Override
    public boolean isFinished() {
        return sendsDone == schedule.sends.count && receivesDone == schedule.receives.count;
    }

    /** Nothing of a world of one goes over links. */
    @Override
    public boolean show(Prepared like, long sequence, HostTensor in) {
        return lanes.isAlone();
    }

    @Override
    public boolean take(Prepared like, long sequence, HostTensor in, HostTensor out) {
        Schedule.Posts local = like.schedule.receives;
        for (int i = 0; i < local.count; i++) {
            copy(local, i, in, out);
        }
        return true;
    }

    @Override
    public boolean advance() {
        boolean any = false;
        boolean moved = true;
        while (moved) {
            moved = collect() | postReceives() | postSends();
            any |= moved;
        }
        return any;
    }

    private boolean collect() {
        int before = sendsDone + receivesDone;
        while (sendsDone < sendsPosted
                && lanes.to(schedule.sends.peer[sendsDone]).link.sent() >= sendTarget[sendsDone]) {
            sendsDone++;
        }
        while (receivesDone < receivesPosted && hasArrived(receivesDone)) {
            receivesDone++;
        }
        return sendsDone + receivesDone != before;
    }

    private boolean hasArrived(int index) {
        return schedule.receives.kind[index] == Schedule.COPY
                || lanes.to(schedule.receives.peer[index]).link.received() >= receiveTarget[index];
    }

    private boolean isReady(Schedule.Posts posts, int index) {
        return posts.afterSends[index] <= sendsDone && posts.afterReceives[index] <= receivesDone;
    }

    private boolean postReceives() {
        Schedule.Posts posts = schedule.receives;
        boolean moved = false;
        while (receivesPosted < posts.count && isReady(posts, receivesPosted)) {
            postReceive(posts, receivesPosted++);
            moved = true;
        }
        return moved;
    }

    private void postReceive(Schedule.Posts posts, int index) {
        HostTensor into = memory[posts.region[index].ordinal()];
        if (posts.kind[index] == Schedule.COPY) {
            copy(posts, index, into);
            return;
        }
        Lanes.Channel channel = lanes.to(posts.peer[index]);
        if (posts.kind[index] == Schedule.COMBINE && op != null) {
            channel.link.receiveCombine(
                    header(prepared.receiveCalls, posts.peer[index]),
                    into,
                    posts.from[index],
                    posts.elements[index],
                    op);
        } else {
            channel.link.receive(
                    header(prepared.receiveCalls, posts.peer[index]), into, posts.from[index], posts.elements[index]);
        }
        receiveTarget[index] = ++channel.receivesPosted;
    }

    private void copy(Schedule.Posts posts, int index, HostTensor into) {
        copy(posts, index, memory[posts.source[index].ordinal()], into);
    }

    private void copy(Schedule.Posts posts, int index, HostTensor source, HostTensor into) {
        // in place the operand already is where the plan wants it
        copies.copy(into, posts.from[index], source, posts.sourceFrom[index], posts.elements[index]);
    }

    private CallHeader header(CallHeader.Call[] pairs, int peer) {
        return pairs == null ? call : CallHeader.of(call.sequence(), pairs[peer]);
    }

    private boolean postSends() {
        Schedule.Posts posts = schedule.sends;
        boolean moved = false;
        while (sendsPosted < posts.count && isReady(posts, sendsPosted)) {
            int index = sendsPosted++;
            Lanes.Channel channel = lanes.to(posts.peer[index]);
            HostTensor data = memory[posts.region[index].ordinal()];
            channel.link.send(
                    header(prepared.sendCalls, posts.peer[index]), data, posts.from[index], posts.elements[index]);
            sendTarget[index] = ++channel.sendsPosted;
            moved = true;
        }
        return moved;
    }

    @Override
    public BitSet waitingFor() {
        BitSet peers = new BitSet();
        if (receivesDone < schedule.receives.count && schedule.receives.kind[receivesDone] != Schedule.COPY) {
            peers.set(schedule.receives.peer[receivesDone]);
        } else if (sendsDone < schedule.sends.count) {
            peers.set(schedule.sends.peer[sendsDone]);
        }
        return peers;
    }

    @Override
    public String progress() {
        return "step " + step() + " of " + (schedule.sends.count + schedule.receives.count) + ", "
                + received(receivesDone) + " of " + received(schedule.receives.count) + " bytes received";
    }

    @Override
    public PendingWork.Position position() {
        return new PendingWork.Position(step(), lanes.bytesMoved() - bytesBefore, Names.list(waitingFor()));
    }

    private int step() {
        return sendsDone + receivesDone;
    }

    private long received(int posts) {
        long elements = 0;
        int bytes = 1;
        for (int i = 0; i < posts; i++) {
            if (schedule.receives.kind[i] != Schedule.COPY) {
                elements += schedule.receives.elements[i];
                bytes = memory[schedule.receives.region[i].ordinal()].dataType().byteSize();
            }
        }
        return elements * bytes;
    }
}
