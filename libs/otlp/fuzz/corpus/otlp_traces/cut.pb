
ê
ë

service.name
shop

tidewatt.task_id
shop-1

k8s.pod.uid
u-1

k8s.