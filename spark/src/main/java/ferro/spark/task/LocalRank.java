package ferro.spark.task;

import org.apache.spark.BarrierTaskContext;
import org.apache.spark.BarrierTaskInfo;

/**
 * The number of a rank on its host, and the number of ranks on that host. Both numbers are computed from the addresses
 * of all tasks. The ports in these addresses are Spark's ports and are ignored.
 */
record LocalRank(int rank, int size) {
    static LocalRank of(BarrierTaskContext task) {
        BarrierTaskInfo[] tasks = task.getTaskInfos();
        String[] hosts = new String[tasks.length];
        for (int i = 0; i < hosts.length; i++) {
            hosts[i] = host(tasks[i]);
        }
        return of(hosts, task.partitionId());
    }

    /** Returns the host of a task, as Spark names the host: the task's address without Spark's port. */
    static String host(BarrierTaskInfo task) {
        return task.address().replaceAll(":[0-9]+$", "");
    }

    static LocalRank of(String[] hosts, int rank) {
        int before = 0;
        int all = 0;
        for (int i = 0; i < hosts.length; i++) {
            if (hosts[i].equals(hosts[rank])) {
                all++;
                before += i < rank ? 1 : 0;
            }
        }
        return new LocalRank(before, all);
    }
}
