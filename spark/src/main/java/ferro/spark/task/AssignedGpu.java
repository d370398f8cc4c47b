package ferro.spark.task;

import ferro.spark.rendezvous.DriverStoreClient;
import java.util.List;
import java.util.Optional;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;

/** The GPU that Spark has assigned to a task. The address of the GPU is the ordinal of the device. */
record AssignedGpu(int device) {
    private static final String GPU = "gpu";

    /**
     * Returns the GPU of a task; empty if the task has no GPU.
     *
     * @throws IllegalArgumentException if the task has several GPUs, or the address of its GPU is not a number
     */
    static Optional<AssignedGpu> of(TaskContext task) {
        ResourceInformation gpu = task.resourcesJMap().get(GPU);
        if (gpu == null) {
            return Optional.empty();
        }
        if (gpu.addresses().length != 1 || !gpu.addresses()[0].matches("[0-9]{1,4}")) {
            throw new IllegalArgumentException("rank " + task.partitionId() + " has the GPUs "
                    + String.join(",", gpu.addresses())
                    + ", but needs one GPU with a numeric address: set spark.task.resource.gpu.amount=1, and use a"
                    + " discovery script that prints device ordinals");
        }
        return Optional.of(new AssignedGpu(Integer.parseInt(gpu.addresses()[0])));
    }

    /** Returns the name of the device, which is unique among all hosts. */
    String on(String host) {
        return host + "/" + device;
    }

    /** Claims this device in the driver's store. Throws if another rank of the job has already claimed the device. */
    void claim(DriverStoreClient line, TaskContext task, String host) {
        String key = task.stageId() + "." + task.stageAttemptNumber() + "/" + on(host);
        line.claim(key).ifPresent(other -> refuse(other, task.partitionId(), host));
    }

    /** Compares the devices of all ranks. Throws if a lower rank of the job has the same device as this rank. */
    void compare(List<String> devices, int rank, String host) {
        int first = devices.indexOf(on(host));
        if (first != rank) {
            refuse(first, rank, host);
        }
    }

    private void refuse(int other, int rank, String host) {
        throw new IllegalArgumentException("ranks " + other + " and " + rank + " both have GPU " + device + " of "
                + host + ": set spark.task.resource.gpu.amount=1, so that Spark gives each task a different GPU");
    }
}
