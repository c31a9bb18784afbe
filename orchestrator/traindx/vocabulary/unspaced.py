"""Words of languages that put none or few spaces between them: Chinese, Japanese, Korean."""

from __future__ import annotations

import re

_WORDS = {
    "train": "训练集 训练 訓練 学習 훈련 학습",
    "val": "验证集 验证 校验 驗證 検証 검증",
    "test": "测试集 测试 測試 テスト 테스트",
    "loss": "损失函数 损失值 损失 損失 손실",
    "accuracy": "准确率 准确度 正确率 準確率 精度 正解率 정확도",
    "lr": "学习率 學習率 学習率 학습률",
    "grad norm": "梯度范数 梯度範數 勾配ノルム",
    "grad": "梯度 勾配",
    "norm": "范数 範數 ノルム",
    "dtype": "混合精度 半精度 单精度 双精度",
    "epoch": "轮次 轮数 轮 輪 エポック 에포크 에폭",
    "step": "迭代次数 迭代 步数 步 ステップ 스텝",
    "batch": "批次 バッチ 배치",
    "episode": "回合 エピソード 에피소드",
    "avg": "平均 평균",
    "total": "总 總 合計",
    "rmse": "均方根误差",
    "mse": "均方误差 平均二乗誤差",
    "mae": "平均绝对误差 平均絶対誤差",
    "error": "误差 誤差 错误率 오차",
    "ppl": "困惑度",
    "reward": "奖励 報酬 보상",
    "return": "回报",
    "recall": "召回率 再現率 재현율",
    "precision": "精确率 適合率 정밀도",
    "time": "用时 耗时 时间 時間 시간",
    "memory": "显存 内存 メモリ 메모리",
}
_ENGLISH = {word: english for english, words in _WORDS.items() for word in words.split()}
LETTER = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
"""Kana, Han and Hangul, as a class of a pattern names them"""
_KNOWN = re.compile("|".join(sorted(_ENGLISH, key=len, reverse=True)))
_SEAM = re.compile(rf"(?<=[{LETTER}])(?=[A-Za-z])|(?<=[A-Za-z])(?=[{LETTER}])")
# What the width of a character changes, and nothing else.
_WIDE = str.maketrans(
    "\uff1a\uff0c\u3001\uff1b\uff08\uff09\u3010\u3011\uff1d\uff5c\uff0f\u3000\uff05",
    ":,,;()[]=|/ %",
)
_ORDINAL = re.compile(r"[第제]\s{0,4}$")
_UNIT = re.compile(r"\s{0,4}[个個次]?\s?([^\W\d_]{1,8})")
_COUNTERS = {"epoch", "step", "episode", "iter", "iteration", "batch"}


def in_english(text: str) -> str:
    """The words that are known in English, each by itself: `训练损失` is ` train  loss `."""
    if text.isascii():
        return text
    return _KNOWN.sub(lambda found: f" {_ENGLISH[found[0]]} ", _SEAM.sub(" ", text))


def narrow(stretches: tuple[str, ...]) -> tuple[str, ...]:
    """The text around the numbers of a line with plain punctuation; `第 3 轮` becomes `epoch 3`."""
    if all(part.isascii() for part in stretches):
        return stretches
    parts = [part.translate(_WIDE) for part in stretches]
    for place, part in enumerate(parts[:-1]):
        if _ORDINAL.search(part):
            at = place + 1 if parts[place + 1].strip() != "/" or place + 2 >= len(parts) else place + 2
            unit = _UNIT.match(parts[at])
            name = in_english(unit[1]).strip().lower() if unit else ""
            if unit and name in _COUNTERS:
                parts[place] = _ORDINAL.sub(f"{name} ", part)
                parts[at] = f",{parts[at][unit.end() :]}"
    return tuple(parts)
