/* The four functions that rocketmq-client-python 2.0.0 binds and the library of the PyPI package
 * `rocketmq` 0.4.4 does not export. Everything else is that library's, to which this file links.
 *
 * 1. The shim needs an soname of its own. The dynamic loader looks a dependency up by its soname
 *    first: two libraries called librocketmq.so would be one, and the shim would link to itself.
 * 2. A sharding key chooses its queue by the hash that Java's String.hashCode is, as the makers'
 *    own library 2.0.0 does. Equal keys keep to one queue as long as the topic has as many queues.
 * 3. Transactions end with an error that the package turns into an exception: 0.4.4's library has
 *    no half messages.
 */
#include <stddef.h>

typedef int (*QueueSelector)(int size, void *message, void *key);

/* As CProducer.h of 0.4.4 declares them; CProducer, CMessage and CSendResult are opaque here. */
extern void *CreateProducer(const char *group);
extern int SendMessageOrderly(void *producer, void *message, QueueSelector choose, void *key,
                              int retries, void *result);

enum { NULL_POINTER = 1, NOT_SUPPORT_NOW = -1, RETRIES = 3 };

static int queue_of(int size, void *message, void *key)
{
    unsigned hash = 0;
    (void)message;
    for (const char *at = key; *at != '\0'; at++)
        hash = 31 * hash + (unsigned char)*at;
    return size > 0 ? (int)(hash % (unsigned)size) : 0;
}

void *CreateOrderlyProducer(const char *group)
{
    return CreateProducer(group);
}

int SendMessageOrderlyByShardingKey(void *producer, void *message, const char *key, void *result)
{
    if (producer == NULL || message == NULL || key == NULL || result == NULL)
        return NULL_POINTER;
    return SendMessageOrderly(producer, message, queue_of, (void *)key, RETRIES, result);
}

void *CreateTransactionProducer(const char *group, void *check, void *argument)
{
    (void)group, (void)check, (void)argument;
    return NULL;
}

int SendMessageTransaction(void *producer, void *message, void *execute, void *argument,
                           void *result)
{
    (void)producer, (void)message, (void)execute, (void)argument, (void)result;
    return NOT_SUPPORT_NOW;
}
