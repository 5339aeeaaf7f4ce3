
ž
‘

service.name
shop

tidewatt.task_id
shop-1

k8s.pod.uid
u-1

k8s.namespace.name
n

k8s.pod.name
p

slurm.job.id
7

demo