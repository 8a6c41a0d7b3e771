"""AWS: CloudWatch alarms through SNS, as the service stores them (services/signals/sns.py)."""

from typing import Any

_ALARM: dict[str, Any] = {
    "AlarmName": "checkout-5xx",
    "AlarmDescription": "More than 5% of the checkouts fail",
    "AWSAccountId": "123456789012",
    "AlarmConfigurationUpdatedTimestamp": "2026-10-02T08:11:40.004+0000",
    "NewStateValue": "ALARM",
    "NewStateReason": "Threshold Crossed: 1 datapoint [31.0] was greater than the threshold (5.0).",
    "StateChangeTime": "2026-11-21T12:44:10.262+0000",
    "Region": "EU (Frankfurt)",
    "AlarmArn": "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:checkout-5xx",
    "OldStateValue": "OK",
    "OKActions": ["arn:aws:sns:eu-central-1:123456789012:alarms"],
    "AlarmActions": ["arn:aws:sns:eu-central-1:123456789012:alarms"],
    "InsufficientDataActions": [],
    "Trigger": {
        "MetricName": "HTTPCode_Target_5XX_Count",
        "Namespace": "AWS/ApplicationELB",
        "Statistic": "SUM",
        "Dimensions": [{"value": "app/shop/50dc6c495c0c9188", "name": "LoadBalancer"}],
        "Period": 60,
        "EvaluationPeriods": 1,
        "ComparisonOperator": "GreaterThanThreshold",
        "Threshold": 5.0,
    },
}
FIRING: dict[str, Any] = {
    "Type": "Notification",
    "MessageId": "95df01b4-ee98-5cb9-9903-4c221d41eb5e",
    "TopicArn": "arn:aws:sns:eu-central-1:123456789012:alarms",
    "Subject": 'ALARM: "checkout-5xx" in EU (Frankfurt)',
    "Message": _ALARM,
    "Timestamp": "2026-11-21T12:44:10.301Z",
}
RESOLVED: dict[str, Any] = FIRING | {
    "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    "Subject": 'OK: "checkout-5xx" in EU (Frankfurt)',
    "Message": _ALARM
    | {
        "NewStateValue": "OK",
        "NewStateReason": "Threshold Crossed: 1 datapoint [0.0] was not greater than 5.0.",
        "StateChangeTime": "2026-11-21T12:52:40.118+0000",
        "OldStateValue": "ALARM",
    },
    "Timestamp": "2026-11-21T12:52:40.160Z",
}
SETUP = """\
Create a signature token with the scheme aws-sns and the ARN of your topic; it has no secret. Then
create the subscription (Amazon SNS, Subscriptions, Create subscription):

  Topic ARN                     the topic
  Protocol                      HTTPS
  Endpoint                      ENDPOINT_URL
  Enable raw message delivery   off: a raw message has no signature

The service confirms the subscription after it has checked the signature. In the alarm (CloudWatch,
Alarms, Actions), send "In alarm" and "OK" to the topic.

Add a filter for Message.AlarmName. INSUFFICIENT_DATA neither switches nor reverts.
"""
