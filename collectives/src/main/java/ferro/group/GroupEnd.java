package ferro.group;

import ferro.CollectiveBackend;
import ferro.collectives.CollectiveEngine;
import ferro.dispatch.GpuCollectives;
import ferro.spi.RankContext;

/**
 * What all views of one group have in common.
 *
 * @param backend    back end of the group
 * @param way        what takes its calls: the back end, or the door for device tensors in front of it
 * @param context    settings, for the groups made of this one
 * @param coalescing blocks that are open
 * @param joined     whose end aborts the group; null for one that was not joined, but wrapped
 */
record GroupEnd(
        CollectiveBackend backend,
        CollectiveBackend way,
        RankContext context,
        Coalescing coalescing,
        JoiningThread joined) {
    static GroupEnd of(CollectiveBackend backend, RankContext context, JoiningThread joined) {
        CollectiveBackend way =
                needsDoor(backend) ? GpuCollectives.with(context).over(backend) : backend;
        return new GroupEnd(backend, way, context, new Coalescing(), joined);
    }

    /** An engine refuses device tensors itself, so that calls on host tensors need not pass a door that leads nowhere. */
    private static boolean needsDoor(CollectiveBackend backend) {
        return !backend.takesDeviceTensors() && (!CollectiveEngine.isOne(backend) || GpuCollectives.hasWay(backend));
    }
}
