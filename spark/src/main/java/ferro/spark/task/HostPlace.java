package ferro.spark.task;

import org.apache.spark.BarrierTaskContext;
import org.apache.spark.BarrierTaskInfo;

/** Place of a rank among those of its host, by the addresses of all tasks. Their ports are those of Spark, and not used. */
record HostPlace(int rank, int size) {
    static HostPlace of(BarrierTaskContext task) {
        BarrierTaskInfo[] tasks = task.getTaskInfos();
        String[] hosts = new String[tasks.length];
        for (int i = 0; i < hosts.length; i++) {
            hosts[i] = host(tasks[i]);
        }
        return of(hosts, task.partitionId());
    }

    /** Returns the host of a task as Spark names it. The port beside it is Spark's. */
    static String host(BarrierTaskInfo task) {
        return task.address().replaceAll(":[0-9]+$", "");
    }

    static HostPlace of(String[] hosts, int rank) {
        int before = 0;
        int all = 0;
        for (int i = 0; i < hosts.length; i++) {
            if (hosts[i].equals(hosts[rank])) {
                all++;
                before += i < rank ? 1 : 0;
            }
        }
        return new HostPlace(before, all);
    }
}
