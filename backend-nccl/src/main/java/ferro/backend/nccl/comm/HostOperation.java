package ferro.backend.nccl.comm;

import ferro.backend.nccl.memory.HostStagingBlocks;
import ferro.backend.nccl.queue.NativeOperation;
import ferro.backend.nccl.queue.NcclOperation;

/**
 * An operation on host memory. It runs in rounds of upload, native call and download. In a round, at most as many bytes
 * are copied as fit into the {@link HostStagingBlocks}.
 *
 * <p>Until the last round was issued, no other operation is issued, because the other ranks expect the rounds directly
 * one after the other.
 */
final class HostOperation implements NativeOperation {
    private final CommStream lane;
    private final NcclOperation operation;
    private final HostStagingBlocks stage;
    private final PiecewiseHostCall rounds;
    private HostStep step = HostStep.READY;
    private boolean ordered;
    private long event;

    private enum HostStep {
        READY,
        TAKING,
        RECORDED
    }

    HostOperation(CommStream lane, NcclOperation operation, HostStagingBlocks stage, PiecewiseHostCall rounds) {
        this.lane = lane;
        this.operation = operation;
        this.stage = stage;
        this.rounds = rounds;
    }

    @Override
    public boolean issue() {
        if (!stage.claim(this)) {
            return false;
        }
        while (true) {
            switch (step) {
                case READY -> {
                    if (!rounds.hasNext()) {
                        return true;
                    }
                    prepareStage();
                    step = HostStep.TAKING;
                    lane.call(operation, rounds::begin);
                }
                case TAKING -> {
                    if (!lane.comm().hasTaken()) {
                        return false;
                    }
                    rounds.collect(lane.stream());
                    event = lane.recordEvent();
                    step = HostStep.RECORDED;
                }
                default -> {
                    if (!rounds.hasNext()) {
                        return true;
                    }
                    if (!lane.passed(event)) {
                        return false;
                    }
                    finishRound();
                }
            }
        }
    }

    /**
     * Prepares the stage. Work on the default stream may still use the memory of a new block, because the previous user
     * may have closed the block right after queuing that work. Therefore the blocks are allocated before the stream
     * waits for the default stream.
     */
    private void prepareStage() {
        if (stage.ensure(rounds.stageBytes()) || !ordered) {
            lane.afterDefaultStream();
            ordered = true;
        }
    }

    private void finishRound() {
        giveBackEvent();
        rounds.finish();
        step = HostStep.READY;
    }

    @Override
    public boolean passed() {
        return event == 0 || lane.passed(event);
    }

    @Override
    public void cutOff() {
        if (step != HostStep.READY) {
            giveBackEvent();
            event = lane.recordEvent();
        }
    }

    @Override
    public void deliver() {
        if (step == HostStep.RECORDED) {
            finishRound();
        }
    }

    @Override
    public void end() {
        giveBackEvent();
        stage.release(this);
    }

    private void giveBackEvent() {
        if (event != 0) {
            lane.giveBack(event);
            event = 0;
        }
    }
}
